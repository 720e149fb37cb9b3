#pragma once

#include "runtime/kernels/kernel.hpp"

/// The parts of the index family, one source file each; index.cpp joins them.
namespace poprt::kernels {

BoundKernel BindOneHot(const KernelCall& call);
BoundKernel BindTopK(const KernelCall& call);
BoundKernel BindTrilu(const KernelCall& call);

}  // namespace poprt::kernels
