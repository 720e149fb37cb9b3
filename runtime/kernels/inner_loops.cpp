#include "runtime/kernels/inner_loops.hpp"

#include <vector>

#include "runtime/kernels/instruction_set.hpp"

namespace poprt::kernels {
namespace {

constexpr InnerLoops kPortable{.instruction_set = NameOf(InstructionSet::kPortable),
                               .gemm = kPortableGemmMicroKernels,
                               .gemv = kPortableGemvKernels,
                               .conv = kPortableConvMicroKernels,
                               .winograd = kPortableWinograd,
                               .rows = kPortableRowKernels,
                               .wide_rows = &kPortableWideIntegerRows,
                               .element_functions = kPortableElementFunctions,
                               .recurrent_cells = kPortableRecurrentCells};

#if defined(POPRT_X86_KERNELS)

constexpr InnerLoops kAvx2{.instruction_set = NameOf(InstructionSet::kAvx2),
                           .gemm = kAvx2GemmMicroKernels,
                           .gemv = kAvx2GemvKernels,
                           .conv = kAvx2ConvMicroKernels,
                           .winograd = kAvx2Winograd,
                           .rows = kAvx2RowKernels,
                           .wide_rows = &kAvx2WideIntegerRows,
                           .element_functions = kAvx2ElementFunctions,
                           .recurrent_cells = kAvx2RecurrentCells};

constexpr InnerLoops kAvx512{.instruction_set = NameOf(InstructionSet::kAvx512),
                             .gemm = kAvx512GemmMicroKernels,
                             .gemv = kAvx512GemvKernels,
                             .conv = kAvx512ConvMicroKernels,
                             .winograd = kAvx512Winograd,
                             .rows = kAvx512RowKernels,
                             .wide_rows = &kAvx512WideIntegerRows,
                             .element_functions = kAvx512ElementFunctions,
                             .recurrent_cells = kAvx512RecurrentCells};

/// With one instruction for what else takes two, where the processor has that.
InnerLoops WithVnni(InnerLoops loops, InstructionSet set) {
  if (HasVnni(set)) loops.wide_rows = &kAvx512VnniWideIntegerRows;
  return loops;
}

#endif

const InnerLoops& LoopsFor([[maybe_unused]] InstructionSet set) {
#if defined(POPRT_X86_KERNELS)
  if (set == InstructionSet::kAvx2) return kAvx2;
  static const InnerLoops avx512 = WithVnni(kAvx512, InstructionSet::kAvx512);
  static const InnerLoops amx = [] {
    InnerLoops with_unit = WithVnni(kAvx512, InstructionSet::kAmx);
    with_unit.instruction_set = NameOf(InstructionSet::kAmx);
    with_unit.matrix_unit = &kAmxMatrixUnit;
    return with_unit;
  }();
  if (set == InstructionSet::kAvx512) return avx512;
  if (set == InstructionSet::kAmx) return amx;
#endif
  return kPortable;
}

std::vector<const InnerLoops*> FindSupported() {
  std::vector<const InnerLoops*> supported;
  for (const InstructionSet set : SupportedInstructionSets()) supported.push_back(&LoopsFor(set));
  return supported;
}

}  // namespace

const InnerLoops& PortableInnerLoops() { return kPortable; }

std::span<const InnerLoops* const> SupportedInnerLoops() {
  static const std::vector<const InnerLoops*> supported = FindSupported();
  return supported;
}

const InnerLoops& BestInnerLoops() {
  static const InnerLoops& best = LoopsFor(BestInstructionSet());
  return best;
}

}  // namespace poprt::kernels
