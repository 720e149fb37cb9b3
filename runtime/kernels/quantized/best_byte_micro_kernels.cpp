#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"

#include <vector>

#include "runtime/kernels/instruction_set.hpp"

namespace poprt::kernels {
namespace {

const ByteMicroKernels& MicroKernelsFor([[maybe_unused]] InstructionSet set,
                                        [[maybe_unused]] bool has_vnni) {
#if defined(POPRT_X86_KERNELS)
  if (set == InstructionSet::kAmx && has_vnni) {
    static const ByteMicroKernels amx = Avx512VnniWithAmx();
    return amx;
  }
  if (set >= InstructionSet::kAvx512) {
    return has_vnni ? kAvx512VnniByteMicroKernels : kAvx512ByteMicroKernels;
  }
  if (set == InstructionSet::kAvx2) {
    return has_vnni ? kAvx2VnniByteMicroKernels : kAvx2ByteMicroKernels;
  }
#endif
  return kPortableByteMicroKernels;
}

std::vector<const ByteMicroKernels*> FindSupported() {
  std::vector<const ByteMicroKernels*> supported;
  for (const InstructionSet set : SupportedInstructionSets()) {
    supported.push_back(&MicroKernelsFor(set, false));
    if (HasVnni(set)) supported.push_back(&MicroKernelsFor(set, true));
  }
  return supported;
}

}  // namespace

std::span<const ByteMicroKernels* const> SupportedByteMicroKernels() {
  static const std::vector<const ByteMicroKernels*> supported = FindSupported();
  return supported;
}

const ByteMicroKernels& BestByteMicroKernels() {
  static const ByteMicroKernels& best =
      MicroKernelsFor(BestInstructionSet(), HasVnni(BestInstructionSet()));
  return best;
}

}  // namespace poprt::kernels
