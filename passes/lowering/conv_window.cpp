#include "passes/lowering/conv_window.hpp"

namespace poprt::passes {

Shape SpatialOf(const Shape& shape) { return {shape.begin() + kSpatial, shape.end()}; }

kernels::Window WindowOf(const ir::Graph& graph, const ir::Node& conv) {
  return kernels::ResolveWindow(conv.attributes, SpatialOf(graph.type(conv.inputs[0]).shape),
                                SpatialOf(graph.type(conv.inputs[1]).shape));
}

Ints PadsOf(const kernels::Window& window) {
  Ints pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  return pads;
}

void SetPads(ir::Node& conv, const kernels::Window& window) {
  conv.attributes.erase("auto_pad");
  conv.attributes.set("pads", PadsOf(window));
}

Attributes ProductAttributes(const ir::Node& conv) {
  Attributes attributes = conv.attributes;
  for (const char* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}) {
    attributes.erase(name);
  }
  attributes.set("trans_b", std::int64_t{1});
  return attributes;
}

}  // namespace poprt::passes
