#pragma once

#include <vector>

#include "compiler/ir/graph.hpp"

/// The axes of Squeeze and Unsqueeze.
namespace poprt::passes {

/// One flag for each axis of the input of a Squeeze: true for those that go.
std::vector<bool> SqueezedAxes(const ir::Graph& graph, const ir::Node& squeeze);

/// One flag for each axis of the output of an Unsqueeze: true for those that are new.
std::vector<bool> UnsqueezedAxes(const ir::Graph& graph, const ir::Node& unsqueeze);

/// `second` speaks of the axes that are false in `first`; the result is true for both.
std::vector<bool> Combine(std::vector<bool> first, const std::vector<bool>& second);

/// The positions that are true.
Ints AxesOf(const std::vector<bool>& selected);

}  // namespace poprt::passes
