#include "passes/conversion/channel_affine.hpp"

#include <utility>
#include <vector>

#include "passes/constant_values.hpp"

namespace poprt::passes {

std::optional<ChannelAffine> ChannelAffineOf(const ir::Graph& graph, const ir::Node& node) {
  if (auto factors = BatchNormFactorsOf(graph, node)) return {{node.inputs[0], *factors}};
  if (node.op != "Mul" && node.op != "Add") return std::nullopt;
  const TensorType& type = graph.type(node.outputs[0]);
  if (!IsFloat(type.element) || type.shape.size() < 3) return std::nullopt;
  const std::size_t channels = static_cast<std::size_t>(type.shape[1]);
  for (const std::size_t i : {0, 1}) {
    const ir::ValueId x = node.inputs[1 - i];
    if (graph.ConstantOf(x) != nullptr || graph.type(x) != type) continue;
    auto values = AlongAxis(graph, node.inputs[i], type.shape[1], type.shape.size() - 2);
    if (!values) continue;
    if (node.op == "Mul") return {{x, {*values, std::vector<double>(channels, 0)}}};
    return {{x, {std::vector<double>(channels, 1), *values}}};
  }
  return std::nullopt;
}

}  // namespace poprt::passes
