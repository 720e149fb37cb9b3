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
                               .element_functions = kPortableElementFunctions,
                               .recurrent_cells = kPortableRecurrentCells};

#if defined(POPRT_X86_KERNELS)

constexpr InnerLoops kAvx2{.instruction_set = NameOf(InstructionSet::kAvx2),
                           .gemm = kAvx2GemmMicroKernels,
                           .gemv = kAvx2GemvKernels,
                           .conv = kAvx2ConvMicroKernels,
                           .winograd = kAvx2Winograd,
                           .rows = kAvx2RowKernels,
                           .element_functions = kAvx2ElementFunctions,
                           .recurrent_cells = kAvx2RecurrentCells};

constexpr InnerLoops kAvx512{.instruction_set = NameOf(InstructionSet::kAvx512),
                             .gemm = kAvx512GemmMicroKernels,
                             .gemv = kAvx512GemvKernels,
                             .conv = kAvx512ConvMicroKernels,
                             .winograd = kAvx512Winograd,
                             .rows = kAvx512RowKernels,
                             .element_functions = kAvx512ElementFunctions,
                             .recurrent_cells = kAvx512RecurrentCells};

constexpr InnerLoops kAmx{.instruction_set = NameOf(InstructionSet::kAmx),
                          .gemm = kAvx512GemmMicroKernels,
                          .gemv = kAvx512GemvKernels,
                          .conv = kAvx512ConvMicroKernels,
                          .winograd = kAvx512Winograd,
                          .rows = kAvx512RowKernels,
                          .element_functions = kAvx512ElementFunctions,
                          .recurrent_cells = kAvx512RecurrentCells,
                          .matrix_unit = &kAmxMatrixUnit};

#endif

const InnerLoops& LoopsFor([[maybe_unused]] InstructionSet set) {
#if defined(POPRT_X86_KERNELS)
  if (set == InstructionSet::kAvx2) return kAvx2;
  if (set == InstructionSet::kAvx512) return kAvx512;
  if (set == InstructionSet::kAmx) return kAmx;
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
