#pragma once

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

BoundKernel BindMatMul(const KernelCall& call);  ///< NumPy's matmul, any rank >= 1
BoundKernel BindGemm(const KernelCall& call);    ///< alpha, beta, transA, transB; input 2: C

}  // namespace poprt::kernels
