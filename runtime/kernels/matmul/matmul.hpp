#pragma once

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

BoundKernel BindDet(const KernelCall& call);     ///< of the last two axes
BoundKernel BindMatMul(const KernelCall& call);  ///< NumPy's matmul, any rank >= 1
BoundKernel BindGemm(const KernelCall& call);    ///< alpha, beta, transA, transB; input 2: C

}  // namespace poprt::kernels
