#pragma once

#include <span>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/winograd_transforms.hpp"
#include "runtime/kernels/fused/element_functions.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/gemv_kernels.hpp"
#include "runtime/kernels/quantized/integer_rows.hpp"
#include "runtime/kernels/recurrent/recurrent_cells.hpp"
#include "runtime/kernels/rows/row_kernels.hpp"

namespace poprt::kernels {

/// The inner loops of all tuned kernels for one instruction set.
struct InnerLoops {
  const char* instruction_set;  ///< "portable", "avx2", "avx512" or "amx"
  const GemmMicroKernels& gemm;
  const GemvKernels& gemv;
  const ConvMicroKernels& conv;
  const WinogradKernels& winograd;
  const RowKernels& rows;
  const IntegerRowKernels* wide_rows;  ///< for weights of 16 bits
  const ElementFunctions& element_functions;
  const RecurrentCells& recurrent_cells;
  const MatrixUnit* matrix_unit = nullptr;  ///< if the processor has one
};

/// For any processor.
const InnerLoops& PortableInnerLoops();

/// Those that this processor can run, the portable ones first and the fastest last. Found once in a
/// process.
std::span<const InnerLoops* const> SupportedInnerLoops();

/// Those that the environment variable POPRT_INSTRUCTION_SET names, if this processor can run them,
/// or the fastest for it. Found once in a process.
const InnerLoops& BestInnerLoops();

}  // namespace poprt::kernels
