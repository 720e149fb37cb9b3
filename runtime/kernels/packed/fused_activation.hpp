#pragma once

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/tensor/attributes.hpp"

namespace poprt::kernels {

/// An epilogue with the activation that the attribute "activation" names: "" (none, the default),
/// "relu", "clip" (attributes "min" and "max"), "gelu_erf", "gelu_tanh", "sigmoid", "tanh", "silu",
/// "hardswish", "leaky_relu" (attribute "alpha", 0.01 by default). Throws KernelError for other
/// names.
Epilogue EpilogueWithActivation(const Attributes& attributes);

}  // namespace poprt::kernels
