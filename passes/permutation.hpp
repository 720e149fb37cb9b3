#pragma once

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// The axes of the input of a Transpose in the order in which they stand in its output, written out
/// when the attribute is absent.
Ints PermutationOf(const ir::Graph& graph, const ir::Node& transpose);

/// What `of_axes` has for each axis, in the order `perm`: a shape, or another order, of which this
/// is what comes behind it.
Ints Permuted(const Ints& of_axes, const Ints& perm);

}  // namespace poprt::passes
