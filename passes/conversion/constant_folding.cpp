#include "passes/conversion/constant_folding.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/control_flow.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/ops/random_ops.hpp"
#include "passes/constant_values.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::passes {
namespace {

std::size_t ResultBytes(const ir::Graph& graph, const ir::Node& node) {
  std::size_t bytes = 0;
  for (ir::ValueId id : node.outputs) {
    if (id != ir::kAbsent) bytes = std::max(bytes, graph.type(id).bytes());
  }
  return bytes;
}

/// Shape and Size need the type of their input only.
std::optional<Tensor> FoldShape(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "Shape" && node.op != "Size") return std::nullopt;
  const TensorType& result = graph.type(node.outputs[0]);
  const Shape& shape = graph.type(node.inputs[0]).shape;
  if (node.op == "Size") {
    const auto count = static_cast<double>(ElementCount(shape));
    return FromDoubles(result, std::vector<double>{count});
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto position = [&](std::string_view attribute, std::int64_t otherwise) {
    const std::int64_t value = node.attributes.get_int(attribute, otherwise);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const std::int64_t start = position("start", 0);
  const std::int64_t end = std::max(start, position("end", rank));
  return FromDoubles(result, std::vector<double>(shape.begin() + start, shape.begin() + end));
}

/// The results of a node whose inputs are constants; nothing when no kernel computes it.
std::optional<std::vector<Tensor>> RunKernel(const ir::Graph& graph, const ir::Node& node) {
  std::vector<Tensor> inputs;
  for (ir::ValueId id : node.inputs) {
    if (id == ir::kAbsent) {
      inputs.emplace_back();
      continue;
    }
    const Tensor* constant = graph.ConstantOf(id);
    if (constant == nullptr) return std::nullopt;
    inputs.push_back(*constant);
  }
  std::vector<TensorType> types;
  for (ir::ValueId id : node.outputs) {
    types.push_back(id == ir::kAbsent ? TensorType{} : graph.type(id));
  }
  try {
    return kernels::RunOnce(node.op, inputs, types, node.attributes);
  } catch (const std::exception&) {
    // Whether the operator is supported with these operands is decided when the graph is lowered.
    return std::nullopt;
  }
}

std::optional<std::vector<Tensor>> Fold(const ir::Graph& graph, const ir::Node& node) {
  if (ops::FindOp(node.op) == nullptr || ops::IsRandom(node.op)) return std::nullopt;
  if (std::optional<Tensor> shape = FoldShape(graph, node)) return std::vector<Tensor>{*shape};
  return RunKernel(graph, node);
}

}  // namespace

absl::Status ConstantFolding(ir::Graph& graph, const PassContext& context) {
  const bool bounded = context.max_tensor_size >= 0;
  const auto bound = static_cast<std::size_t>(context.max_tensor_size);
  std::vector<ir::Node> kept;
  for (ir::Node& node : graph.nodes) {
    std::optional<std::vector<Tensor>> results;
    if (!bounded || ResultBytes(graph, node) <= bound) results = Fold(graph, node);
    if (!results) {
      if (!node.regions.empty()) ir::CaptureConstants(graph, node);
      kept.push_back(std::move(node));
      continue;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != ir::kAbsent) graph.value(node.outputs[i]).constant = (*results)[i];
    }
  }
  const bool changed = kept.size() != graph.nodes.size();
  graph.nodes = std::move(kept);
  if (changed) graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
