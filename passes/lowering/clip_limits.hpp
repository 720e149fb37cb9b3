#pragma once

#include <optional>

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// Where a Clip cuts off; infinite where it does not.
struct ClipLimits {
  float low;
  float high;
};

/// Of a Clip; nothing when a bound is known at run time only.
std::optional<ClipLimits> ClipLimitsOf(const ir::Graph& graph, const ir::Node& clip);

}  // namespace poprt::passes
