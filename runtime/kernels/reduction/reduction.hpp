#pragma once

#include <span>

#include "runtime/kernels/kernel.hpp"

/// The parts of the reduction family; reduction.cpp joins them.
namespace poprt::kernels {

std::span<const KernelDef> ReduceKernels();      ///< ReduceSum, ...
std::span<const KernelDef> ArgReduceKernels();   ///< ArgMax, ArgMin
std::span<const KernelDef> CumulativeKernels();  ///< CumSum, CumProd

}  // namespace poprt::kernels
