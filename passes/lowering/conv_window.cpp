#include "passes/lowering/conv_window.hpp"

#include <utility>

namespace poprt::passes {
namespace {

Shape SpatialOf(const Shape& shape) { return {shape.begin() + kSpatial, shape.end()}; }

}  // namespace

kernels::Window WindowOf(const ir::Graph& graph, const ir::Node& conv) {
  return kernels::ResolveWindow(conv.attributes, SpatialOf(graph.type(conv.inputs[0]).shape),
                                SpatialOf(graph.type(conv.inputs[1]).shape));
}

void SetPads(ir::Node& conv, const kernels::Window& window) {
  Ints pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  conv.attributes.erase("auto_pad");
  conv.attributes.set("pads", std::move(pads));
}

}  // namespace poprt::passes
