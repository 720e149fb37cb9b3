#pragma once

#include "compiler/ir/graph.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {

/// The axes of batch and channels, which come before those of an image.
inline constexpr std::size_t kSpatial = 2;

/// The extents behind those axes.
Shape SpatialOf(const Shape& shape);

/// What a Conv reads for every result, padding resolved. Throws as ResolveWindow does.
kernels::Window WindowOf(const ir::Graph& graph, const ir::Node& conv);

/// The attribute pads of the window.
Ints PadsOf(const kernels::Window& window);

/// Gives the Conv the pads of the window, as numbers.
void SetPads(ir::Node& conv, const kernels::Window& window);

/// What a FusedMatMul by the weights [out channels, ...] of a FusedConv does to its sums.
Attributes ProductAttributes(const ir::Node& conv);

}  // namespace poprt::passes
