#pragma once

#include <cstdint>

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// Two or four groups become one of whole blocks of 16 channels, with zeros for the channels of the
/// others, so that a convolution can be computed in blocks of channels: two to four times the
/// multiplications, but several times as fast each. A NaN or an infinity in the image may make the
/// outputs of all groups that are put together NaN.

/// How many groups of a FusedConv of images together have whole blocks of channels; or 1 where they
/// have anyway, or none should be merged. What is left over for the last group is spare lanes.
std::int64_t GroupsTogether(const ir::Graph& graph, const ir::Node& conv);

/// [O, C, H, W] -> [O', together * C, H, W], C channels of which are not zero: the weights of
/// ceil(group / together) groups.
Tensor MergeGroups(const Tensor& weights, std::int64_t group, std::int64_t together);

/// A bias [O] as that of such weights, [channels], with zeros behind.
Tensor MergedBias(const Tensor& bias, std::int64_t channels);

}  // namespace poprt::passes
