#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::lower {

/// A weight that is no part of the program: the load program fills it.
struct Weight {
  std::string name;
  Tensor value;
};

/// Makes the weights of a graph inputs of it, behind those it has and in the order of the result,
/// so that nothing from here on depends on their elements. Weights are the constants of floating
/// point that nodes read, but for scalars and for outputs of the graph. Those in regions are taken
/// out of them; one that several regions have under one name and with the same elements is one
/// weight, any other gets a name of its own.
std::vector<Weight> TakeWeights(ir::Graph& graph);

}  // namespace poprt::lower
