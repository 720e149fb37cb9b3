#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

/// kBind with the inner loops that are the best of this processor, for tables of kernels.
template <BoundKernel (*kBind)(const KernelCall&, const InnerLoops&)>
BoundKernel BindBest(const KernelCall& call) {
  return kBind(call, BestInnerLoops());
}

}  // namespace poprt::kernels
