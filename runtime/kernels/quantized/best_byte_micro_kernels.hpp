#pragma once

#include <span>

#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

namespace poprt::kernels {

/// Those that this processor can run, the portable ones first. Found once in a process.
std::span<const ByteMicroKernels* const> SupportedByteMicroKernels();

/// The fastest of them within BestInstructionSet(), with the instructions for products of bytes
/// (VNNI) where the processor has them. Found once in a process.
const ByteMicroKernels& BestByteMicroKernels();

}  // namespace poprt::kernels
