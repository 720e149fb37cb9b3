#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// A ConvTranspose of float32 that lower_conv_transpose left, most often since its weights are
/// computed, its windows dilated or its axes not two, becomes a product that multiplies every pixel
/// by every weight, and a Col2Im that adds up what meets at a pixel of the result.
///
/// before: ConvTranspose(x[B, C, ...], w[C, O, k, k], bias)
/// after:  Add(Col2Im(MatMul(Transpose(Reshape(w)), Reshape(x))), Reshape(bias))
///
/// Not for groups of fewer than 8 channels or results of fewer than 8 pixels and weights, whose
/// products are too small, nor for products of more than 2^27 elements.
absl::Status LowerConvTransposeToProduct(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
