#include "passes/lowering/merge_row_products.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/strided_view.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// More rows read the weights often enough.
constexpr std::int64_t kMostRows = 16;
/// Results that are kept until the last part is read, at most: 16 MiB of float32.
constexpr std::int64_t kMostResults = std::int64_t{1} << 22;

/// One index of an axis of a value, without that axis.
struct Part {
  ValueId source;
  std::int64_t axis;
  std::int64_t index;
};

/// Whether axes of the view are those of `source`, a contiguous value, but for one of them.
bool LeavesOut(std::size_t axis, const Shape& source, const std::vector<std::int64_t>& strides,
               const StridedView& view) {
  if (view.shape.size() + 1 != source.size()) return false;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    const std::size_t of_source = i < axis ? i : i + 1;
    if (view.shape[i] != source[of_source]) return false;
    if (view.shape[i] > 1 && view.strides[i] != strides[of_source]) return false;
  }
  return true;
}

/// Of rows, which the last axis has.
std::optional<Part> PartOf(Rewriter& rewriter, ValueId id) {
  const StridedView view = ViewThrough(rewriter, id, false);
  if (view.source == id) return {};
  const StridedView whole = WholeView(rewriter.graph(), view.source);
  for (std::size_t axis = 0; axis + 1 < whole.shape.size(); ++axis) {
    if (!LeavesOut(axis, whole.shape, whole.strides, view)) continue;
    const std::int64_t stride = whole.strides[axis];
    if (stride == 0 || view.offset % stride != 0) continue;
    return Part{view.source, static_cast<std::int64_t>(axis), view.offset / stride};
  }
  return {};
}

/// Source, axis, weights and bias of products that differ in the index of their part only.
using Key = std::tuple<ValueId, std::int64_t, ValueId, ValueId>;
struct Group {
  Attributes attributes;  ///< of the first one, which the others must have, too
  std::int64_t count = 0;
  std::optional<ValueId> merged = {};
};
using Groups = std::map<Key, Group>;

/// A product that may be one of a group.
struct Candidate {
  Part part;
  Key key;
};

std::optional<Candidate> CandidateOf(Rewriter& rewriter, const Node& node) {
  if (node.op != "FusedMatMul" || HasInput(node, kResidualInput)) return {};
  const Shape& x = rewriter.graph().type(node.inputs[0]).shape;
  if (x.empty() || ElementCount(Shape(x.begin(), x.end() - 1)) > kMostRows) return {};
  const auto part = PartOf(rewriter, node.inputs[0]);
  if (!part.has_value()) return {};
  const ValueId bias = HasInput(node, kBiasInput) ? node.inputs[kBiasInput] : ir::kAbsent;
  return Candidate{*part, {part->source, part->axis, node.inputs[1], bias}};
}

void Count(Rewriter& rewriter, const Node& node, Groups& groups) {
  const auto candidate = CandidateOf(rewriter, node);
  if (!candidate.has_value()) return;
  Group& group = groups[candidate->key];
  if (group.count == 0) group.attributes = node.attributes;
  if (group.attributes == node.attributes) ++group.count;
}

/// The product of all rows of the source, in place of `node`.
ValueId Merged(Rewriter& rewriter, const Node& node, const Part& part) {
  ir::Graph& graph = rewriter.graph();
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = part.source;
  TensorType type{graph.type(node.outputs[0]).element, graph.type(part.source).shape};
  type.shape.back() = graph.type(node.outputs[0]).shape.back();
  return rewriter.Insert(graph.MakeNode("FusedMatMul", std::move(inputs), std::move(type),
                                        node.attributes, node.name + "_all"));
}

bool Merge(Rewriter& rewriter, Node& node, Groups& groups) {
  const auto candidate = CandidateOf(rewriter, node);
  if (!candidate.has_value()) return false;
  const auto found = groups.find(candidate->key);
  if (found == groups.end()) return false;
  Group& group = found->second;
  const Part& part = candidate->part;
  const std::int64_t parts =
      rewriter.graph().type(part.source).shape[static_cast<std::size_t>(part.axis)];
  const std::int64_t results = parts * ElementCount(rewriter.graph().type(node.outputs[0]).shape);
  if (group.count < 2 || 2 * group.count < parts || results > kMostResults ||
      group.attributes != node.attributes) {
    return false;
  }
  if (!group.merged.has_value()) group.merged = Merged(rewriter, node, part);
  const ValueId index = rewriter.AddConstant(
      node.name + "_index", Tensor::Of<std::int64_t>(ElementType::kInt64, {}, {{part.index}}));
  node.op = "Gather";
  node.inputs = {*group.merged, index};
  node.attributes = {{"axis", part.axis}};
  return true;
}

}  // namespace

absl::Status MergeRowProducts(ir::Graph& graph, const PassContext&) {
  Groups groups;
  {
    Rewriter rewriter(graph);
    for (const Node& node : graph.nodes) Count(rewriter, node, groups);
  }
  Rewrite(graph, [&](Rewriter& rewriter, Node& node) { return Merge(rewriter, node, groups); });
  return absl::OkStatus();
}

}  // namespace poprt::passes
