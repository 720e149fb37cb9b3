#include "passes/lowering/strided_view.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "passes/constant_values.hpp"
#include "passes/permutation.hpp"
#include "passes/selected_axes.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// The constant that `node` multiplies its operand i with.
std::optional<double> FactorOf(const ir::Graph& graph, const Node& node, std::size_t i) {
  if (node.op != "Mul" && (node.op != "Div" || i != 0)) return std::nullopt;
  if (graph.type(node.inputs[i]) != graph.type(node.outputs[0])) return std::nullopt;
  const auto constant = UniformValue(graph, node.inputs[1 - i]);
  if (!constant || (node.op == "Div" && *constant == 0)) return std::nullopt;
  return node.op == "Div" ? 1 / *constant : *constant;
}

/// Which operand the node may be a view of.
std::optional<std::size_t> ViewedInput(const ir::Graph& graph, const Node& node, bool scaled) {
  constexpr std::string_view kViews[] = {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze",
                                         "Identity",  "Split",   "Slice",   "Gather"};
  if (std::ranges::find(kViews, node.op) != std::ranges::end(kViews)) return 0;
  if (!scaled) return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    if (i < node.inputs.size() && node.inputs.size() == 2 && FactorOf(graph, node, i)) return i;
  }
  return std::nullopt;
}

bool ApplyReshape(const ir::Graph& graph, const Node& node, StridedView& view) {
  const Shape& to = graph.type(node.outputs[0]).shape;
  auto strides = StridesAs(view, to);
  if (!strides) return false;
  view.shape = to;
  view.strides = std::move(*strides);
  return true;
}

bool ApplyTranspose(const ir::Graph& graph, const Node& node, StridedView& view) {
  const StridedView before = view;
  const Ints permutation = PermutationOf(graph, node);
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    view.shape[i] = before.shape[static_cast<std::size_t>(permutation[i])];
    view.strides[i] = before.strides[static_cast<std::size_t>(permutation[i])];
  }
  return true;
}

bool ApplySplit(const ir::Graph& graph, const Node& node, ValueId output, StridedView& view) {
  const auto axis = NormalizeAxis(node.attributes.get_int("axis", 0), view.shape.size());
  if (!axis) return false;
  const auto a = static_cast<std::size_t>(*axis);
  for (const ValueId id : node.outputs) {
    if (id == ir::kAbsent) return false;
    const std::int64_t extent = graph.type(id).shape[a];
    if (id == output) {
      view.shape[a] = extent;
      return true;
    }
    view.offset += extent * view.strides[a];
  }
  return false;
}

bool ApplySlice(const ir::Graph& graph, const Node& node, StridedView& view) {
  const Ints starts = node.attributes.get_ints("starts");
  const Ints axes = node.attributes.get_ints("axes");
  const Ints steps = node.attributes.get_ints("steps");
  const bool one_by_one = std::ranges::all_of(steps, [](std::int64_t step) { return step == 1; });
  if (!one_by_one || (!axes.empty() && axes.size() != starts.size())) return false;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis =
        NormalizeAxis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], view.shape.size());
    if (!axis) return false;
    const auto a = static_cast<std::size_t>(*axis);
    const std::int64_t extent = view.shape[a];
    const std::int64_t from_front = starts[i] < 0 ? starts[i] + extent : starts[i];
    view.offset += std::clamp<std::int64_t>(from_front, 0, extent) * view.strides[a];
  }
  view.shape = graph.type(node.outputs[0]).shape;
  return ElementCount(view.shape) > 0;
}

bool ApplyGather(const ir::Graph& graph, const Node& node, StridedView& view) {
  const Tensor* indices = graph.ConstantOf(node.inputs[1]);
  const auto axis = NormalizeAxis(node.attributes.get_int("axis", 0), view.shape.size());
  if (indices == nullptr || indices->count() != 1 || !axis) return false;
  const auto a = static_cast<std::ptrdiff_t>(*axis);
  const auto index = static_cast<std::int64_t>(ToDoubles(*indices).front());
  const std::int64_t extent = view.shape[static_cast<std::size_t>(a)];
  view.offset += (index < 0 ? index + extent : index) * view.strides[static_cast<std::size_t>(a)];
  view.shape.erase(view.shape.begin() + a);
  view.strides.erase(view.strides.begin() + a);
  // A list of one index leaves an axis of extent 1 for each of its own.
  const std::size_t kept = indices->shape().size();
  view.shape.insert(view.shape.begin() + a, kept, 1);
  view.strides.insert(view.strides.begin() + a, kept, 0);
  return true;
}

/// Makes `view`, which shows an operand of `node`, show its output `output`; false if the elements
/// would have to be moved.
bool Apply(const ir::Graph& graph, const Node& node, ValueId output, StridedView& view) {
  if (node.op == "Transpose") return ApplyTranspose(graph, node, view);
  if (node.op == "Split") return ApplySplit(graph, node, output, view);
  if (node.op == "Slice") return ApplySlice(graph, node, view);
  if (node.op == "Gather") return ApplyGather(graph, node, view);
  if (node.op == "Mul" || node.op == "Div") {
    view.factor *= *FactorOf(graph, node, *ViewedInput(graph, node, true));
    return true;
  }
  return node.op == "Identity" || ApplyReshape(graph, node, view);
}

}  // namespace

std::optional<std::vector<std::int64_t>> StridesAs(const StridedView& view, const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 0);
  std::size_t axis = view.shape.size();
  std::int64_t left =
      1;  // elements of the run that `axis` ends at, not yet given to axes of `shape`
  std::int64_t stride = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    // Axes that follow each other in memory are one run.
    while (left % shape[i] != 0 || left == 1) {
      if (axis == 0) return std::nullopt;
      --axis;
      if (view.shape[axis] == 1) continue;
      if (left != 1 && view.strides[axis] != stride * left) return std::nullopt;
      if (left == 1) stride = view.strides[axis];
      left *= view.shape[axis];
    }
    strides[i] = stride;
    stride *= shape[i];
    left /= shape[i];
  }
  return strides;
}

StridedView WholeView(const ir::Graph& graph, ValueId id) {
  const Shape& shape = graph.type(id).shape;
  return {.source = id, .shape = shape, .strides = Strides(shape)};
}

StridedView ViewThrough(Rewriter& rewriter, ValueId id, bool scaled) {
  const ir::Graph& graph = rewriter.graph();
  const Node* node = rewriter.Producer(id);
  const auto input = node == nullptr ? std::nullopt : ViewedInput(graph, *node, scaled);
  if (!input || ElementCount(graph.type(id).shape) == 0) return WholeView(graph, id);
  StridedView view = ViewThrough(rewriter, node->inputs[*input], scaled);
  return Apply(graph, *node, id, view) ? view : WholeView(graph, id);
}

}  // namespace poprt::passes
