#include "passes/conversion/sink_transpose.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

constexpr std::array<std::string_view, 6> kElementwise{"Add", "Div", "Max", "Min", "Mul", "Sub"};
constexpr std::array<std::string_view, 6> kReductions{"ReduceL1",   "ReduceL2",  "ReduceMax",
                                                      "ReduceMean", "ReduceMin", "ReduceSum"};

/// The type of what becomes `type` when its axes are put into that order.
TensorType Before(const TensorType& type, const Ints& perm) {
  TensorType before = type;
  for (std::size_t axis = 0; axis < perm.size(); ++axis) {
    before.shape[static_cast<std::size_t>(perm[axis])] = type.shape[axis];
  }
  return before;
}

/// The node becomes a Transpose of what it was, with other inputs and attributes.
void MakeTranspose(Rewriter& rewriter, ir::Node& node, std::vector<ir::ValueId> inputs,
                   const Attributes& attributes, const Ints& perm) {
  ir::Graph& graph = rewriter.graph();
  node.inputs = {rewriter.Insert(graph.MakeNode(node.op, std::move(inputs),
                                                Before(graph.type(node.outputs[0]), perm),
                                                attributes, node.name + "_sunk"))};
  node.op = "Transpose";
  node.attributes = Attributes{{"perm", perm}};
}

/// No more nodes than before: at least one of the operands goes.
bool SinkThroughElementwise(Rewriter& rewriter, ir::Node& node) {
  if (node.inputs.size() != 2) return false;
  const ir::Node* a = rewriter.Producer(node.inputs[0], "Transpose");
  const ir::Node* b = rewriter.Producer(node.inputs[1], "Transpose");
  if (a == nullptr || b == nullptr) return false;
  const Ints perm = PermutationOf(rewriter.graph(), *a);
  if (perm != PermutationOf(rewriter.graph(), *b)) return false;
  if (!rewriter.UsedOnlyBy(1, a->outputs[0]) && !rewriter.UsedOnlyBy(1, b->outputs[0])) {
    return false;
  }
  MakeTranspose(rewriter, node, {a->inputs[0], b->inputs[0]}, node.attributes, perm);
  return true;
}

bool ReduceBefore(Rewriter& rewriter, ir::Node& node) {
  const ir::Node* transpose = rewriter.Producer(node.inputs[0], "Transpose");
  if (transpose == nullptr || node.inputs.size() != 1) return false;
  const Ints perm = PermutationOf(rewriter.graph(), *transpose);
  const auto rank = static_cast<std::int64_t>(perm.size());
  Ints axes;
  Ints kept;
  const Ints given = node.attributes.get_ints("axes", {});
  if (given.empty()) return false;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const bool is_reduced = std::ranges::any_of(
        given, [&](std::int64_t named) { return named == axis || named + rank == axis; });
    (is_reduced ? axes : kept).push_back(perm[static_cast<std::size_t>(axis)]);
  }
  std::ranges::sort(axes);
  Attributes attributes = node.attributes;
  attributes.set("axes", axes);
  if (node.attributes.get_int("keepdims", 1) != 0) {
    MakeTranspose(rewriter, node, {transpose->inputs[0]}, attributes, perm);
    return true;
  }
  if (!std::ranges::is_sorted(kept)) return false;
  node.inputs = {transpose->inputs[0]};
  node.attributes = attributes;
  return true;
}

}  // namespace

absl::Status SinkTranspose(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (std::ranges::find(kElementwise, node.op) != kElementwise.end()) {
      return SinkThroughElementwise(rewriter, node);
    }
    return std::ranges::find(kReductions, node.op) != kReductions.end() &&
           ReduceBefore(rewriter, node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
