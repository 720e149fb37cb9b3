#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "compiler/ir/graph.hpp"
#include "passes/rewrite.hpp"
#include "runtime/tensor/tensor.hpp"

/// Convolutions that compute several pixels of an image as channels of one, which a
/// SubpixelShuffle puts in place.
namespace poprt::passes {

/// All elements of the bias `times` times or, if not `all`, each of them.
Tensor RepeatedBias(const Tensor& bias, std::int64_t times, bool all);

/// Makes the node the shuffle of the result of such a convolution.
void MakeSubpixelShuffle(ir::Node& node, ir::ValueId convolution, const Ints& blocks,
                         const Ints& crops, bool phases_first);

/// Rewrites every node that `lower` makes a shuffle; activations behind it go to the convolution.
/// InvalidArgument for windows that do not fit.
absl::Status LowerToSubpixelConvolutions(ir::Graph& graph,
                                         bool (*lower)(Rewriter& rewriter, ir::Node& node));

}  // namespace poprt::passes
