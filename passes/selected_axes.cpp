#include "passes/selected_axes.hpp"

namespace poprt::passes {
namespace {

std::vector<bool> Select(const Ints& axes, std::size_t rank) {
  std::vector<bool> selected(rank, false);
  for (std::int64_t axis : axes) {
    if (const auto position = NormalizeAxis(axis, rank)) {
      selected[static_cast<std::size_t>(*position)] = true;
    }
  }
  return selected;
}

}  // namespace

std::vector<bool> SqueezedAxes(const ir::Graph& graph, const ir::Node& squeeze) {
  const Shape& shape = graph.type(squeeze.inputs[0]).shape;
  const Ints axes = squeeze.attributes.get_ints("axes");
  if (!axes.empty()) return Select(axes, shape.size());
  std::vector<bool> ones;
  for (std::int64_t extent : shape) ones.push_back(extent == 1);
  return ones;
}

std::vector<bool> UnsqueezedAxes(const ir::Graph& graph, const ir::Node& unsqueeze) {
  return Select(unsqueeze.attributes.get_ints("axes"),
                graph.type(unsqueeze.outputs[0]).shape.size());
}

std::vector<bool> Combine(std::vector<bool> first, const std::vector<bool>& second) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i]) first[i] = second[next++];
  }
  return first;
}

Ints AxesOf(const std::vector<bool>& selected) {
  Ints axes;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    if (selected[i]) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

}  // namespace poprt::passes
