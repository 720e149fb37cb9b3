#include "passes/lowering/lower_mean_to_pool.hpp"

#include <algorithm>

#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

/// Whether the node takes means of whole images, [B, C, H, W].
bool IsMeanOfImages(const ir::Graph& graph, const Node& node) {
  constexpr std::size_t kImageRank = 4;
  if (node.op != "ReduceMean") return false;
  const TensorType& x = graph.type(node.inputs[0]);
  if (!IsBackendType(x.element) || x.shape.size() != kImageRank || x.bytes() == 0) return false;
  Ints axes;
  for (const std::int64_t axis : node.attributes.get_ints("axes")) {
    axes.push_back(NormalizeAxis(axis, kImageRank).value_or(-1));
  }
  std::ranges::sort(axes);
  return axes == Ints{2, 3};
}

bool Lower(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  if (!IsMeanOfImages(graph, node)) return false;
  const bool keeps_axes = node.attributes.get_int("keepdims", 1) != 0;
  node.op = "GlobalAveragePool";
  node.attributes = {};
  if (keeps_axes) return true;
  const TensorType x = graph.type(node.inputs[0]);
  const TensorType pooled{x.element, {x.shape[0], x.shape[1], 1, 1}};
  node.inputs = {
      rewriter.Insert(graph.MakeNode(node.op, {node.inputs[0]}, pooled, {}, node.name + "_pool"))};
  node.op = "Reshape";
  node.attributes = {{"shape", Ints{x.shape[0], x.shape[1]}}};
  return true;
}

}  // namespace

absl::Status LowerMeanToPool(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
