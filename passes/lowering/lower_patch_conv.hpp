#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Convolutions of few channels whose windows lie side by side, as those that cut an image into the
/// patches of a transformer, are products of matrices: a row for each patch. They read their
/// weights once, and in fewer bits (choose_short_weights.hpp). What puts the channels of the
/// result last is not computed then.
///
/// before: FusedConv(x, w [, bias]), x of [B, C, H, W], w of [O, C, h, w], strides of h, w
/// after:  Transpose(Reshape(FusedMatMul(patches, w [O, C * h * w] [, bias]) trans_b=1)), patches
///         as Reshape(Transpose(Reshape(x))), [B, H / h * W / w, C * h * w]; x without what is left
///         behind the last of them
absl::Status LowerPatchConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
