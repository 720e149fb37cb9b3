#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"

/// Decisions that change the speed of a program and nothing else. A pass says what there is to
/// choose from and what it would cost by its table; who decides is up to the context.
namespace poprt::passes {

/// One way to compute a node.
struct Alternative {
  std::string name;     ///< for users: "direct", "Winograd F(4x4)"
  ir::Node node;        ///< the node, computed this way: of the same inputs and outputs
  double estimate = 0;  ///< by the cost table, in any unit that all alternatives share
};

/// All ways to compute a node within the error bound of its precision, at least one. Ordered by
/// bytes of weights, the fewest first.
struct Decision {
  std::string what;  ///< for users: "3x3 convolution, 64 to 64 channels, 56x56"
  std::vector<Alternative> alternatives;
};

/// Chooses an alternative, by position. May be called several times with equal decisions; must not
/// throw.
using Decider = std::function<std::size_t(const ir::Graph& graph, const Decision& decision)>;

/// The position of the cheapest. Since later ones have larger weights, each step to a later one
/// must save a tenth at least. `costs` is not empty.
std::size_t CheapestWorthwhile(std::span<const double> costs);

/// By the estimates alone, which are the same on every machine.
std::size_t DecideByEstimate(const ir::Graph& graph, const Decision& decision);

}  // namespace poprt::passes
