#pragma once

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// The axes of the input of a Transpose in the order in which they stand in its output, written out
/// when the attribute is absent.
Ints PermutationOf(const ir::Graph& graph, const ir::Node& transpose);

}  // namespace poprt::passes
