#include "passes/lowering/widen_half_images.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/conversion/change_element_type.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// One convolution, of a transformer's patches say, is not worth the conversions.
constexpr std::ptrdiff_t kFewestConvolutions = 2;

/// Operators whose results are among their operands, or zero.
constexpr std::string_view kExact[] = {
    "Abs",     "Concat",          "DepthToSpace", "Expand",    "Flatten",
    "Gather",  "GlobalMaxPool",   "MaxPool",      "Neg",       "Pad",
    "Relu",    "Reshape",         "SpaceToDepth", "Slice",     "Split",
    "Squeeze", "SubpixelShuffle", "Tile",         "Transpose", "Unsqueeze",
    "Where"};

bool IsHalfConv(const ir::Graph& graph, const Node& node) {
  return node.op == "FusedConv" && graph.type(node.outputs[0]).element == ElementType::kFloat16;
}

Tensor Widened(const std::string& /*name*/, const Tensor& constant) {
  return kernels::RunOnce("Cast", {constant}, {{ElementType::kFloat32, constant.shape()}}, {})
      .front();
}

using Names = std::set<std::string>;

Names NamesOfHalves(const ir::Graph& graph) {
  Names names;
  for (const ir::Value& value : graph.values()) {
    if (value.type.element == ElementType::kFloat16) names.insert(value.name);
  }
  return names;
}

/// Gives float16 inputs, which are cast now, the names that they had before.
void KeepInputNames(ir::Graph& graph, const Names& halves) {
  for (Node& node : graph.nodes) {
    if (node.op != "Cast" || std::ranges::count(graph.inputs, node.inputs[0]) == 0) continue;
    if (graph.type(node.inputs[0]).element != ElementType::kFloat16) continue;
    ir::Value& cast = graph.value(node.outputs[0]);
    if (halves.contains(cast.name)) std::swap(graph.value(node.inputs[0]).name, cast.name);
  }
}

/// Rounds what nodes make of float32 and was float16.
class Rounder {
 public:
  Rounder(ir::Graph& graph, const Names& halves) : graph_(graph), halves_(halves) {}

  void Run() {
    for (Node& node : std::exchange(graph_.nodes, {})) {
      for (ValueId& id : node.inputs) {
        if (const auto rounded = rounded_.find(id); rounded != rounded_.end()) id = rounded->second;
      }
      const std::vector<ValueId> results = node.outputs;
      const bool is_exact = std::ranges::count(kExact, node.op) > 0;
      graph_.nodes.push_back(std::move(node));
      if (is_exact) continue;
      for (const ValueId id : results) {
        if (id != ir::kAbsent && halves_.contains(graph_.value(id).name)) Round(id);
      }
    }
  }

 private:
  void Round(ValueId id) {
    const ir::Value value = graph_.value(id);
    graph_.nodes.push_back(
        graph_.MakeNode("RoundHalf", {id}, value.type, {}, value.name + "_rounded"));
    rounded_[id] = graph_.nodes.back().outputs[0];
  }

  ir::Graph& graph_;
  const Names& halves_;
  std::map<ValueId, ValueId> rounded_;
};

}  // namespace

absl::Status WidenHalfImages(ir::Graph& graph, const PassContext& context) {
  const auto convolutions =
      std::ranges::count_if(graph.nodes, [&](const Node& node) { return IsHalfConv(graph, node); });
  const bool has_regions =
      std::ranges::any_of(graph.nodes, [](const Node& node) { return !node.regions.empty(); });
  if (convolutions < kFewestConvolutions || has_regions || context.in_region) {
    return absl::OkStatus();
  }
  const Names halves = NamesOfHalves(graph);
  ChangeElementType(graph, {.from = ElementType::kFloat16,
                            .to = ElementType::kFloat32,
                            .convert = Widened,
                            .keep = {},
                            .keep_interface = true});
  KeepInputNames(graph, halves);
  Rounder(graph, halves).Run();
  return absl::OkStatus();
}

}  // namespace poprt::passes
