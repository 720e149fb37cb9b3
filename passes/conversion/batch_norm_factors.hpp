#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// BatchNormalization at inference as y = x * scale + shift, one of each for every channel.
struct BatchNormFactors {
  std::vector<double> scale;
  std::vector<double> shift;
};

/// The factors of a BatchNormalization with constant statistics; nothing for any other node.
std::optional<BatchNormFactors> BatchNormFactorsOf(const ir::Graph& graph, const ir::Node& node);

}  // namespace poprt::passes
