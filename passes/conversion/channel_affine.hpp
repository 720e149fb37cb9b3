#pragma once

#include <cstddef>
#include <optional>

#include "compiler/ir/graph.hpp"
#include "passes/conversion/batch_norm_factors.hpp"

namespace poprt::passes {

/// y = x * scale + shift with one of each for every channel, axis 1.
struct ChannelAffine {
  ir::ValueId x = ir::kAbsent;
  BatchNormFactors factors;
};

/// What a Mul or Add of a float tensor of rank 3 or more by a constant computes, or a
/// BatchNormalization with constant statistics; nothing for any other node.
std::optional<ChannelAffine> ChannelAffineOf(const ir::Graph& graph, const ir::Node& node);

}  // namespace poprt::passes
