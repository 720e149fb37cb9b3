#include "passes/lowering/merge_groups.hpp"

#include <cstring>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

/// More groups together cost more than blocks of channels gain.
constexpr std::int64_t kMostGroups = 4;

/// How many groups together have whole blocks of channels, or 1 when none should be merged.
std::int64_t GroupsTogether(std::int64_t group, std::int64_t inputs, std::int64_t outputs) {
  for (std::int64_t together = 2; together <= kMostGroups; together *= 2) {
    if (group % together == 0 && inputs * together % kBlock == 0 &&
        outputs * together % kBlock == 0) {
      return together;
    }
  }
  return 1;
}

/// [O, C, taps...] -> [O, together * C, taps...], C channels of which are not zero.
Tensor MergedWeights(const Tensor& weights, std::int64_t group, std::int64_t together) {
  Shape shape = weights.shape();
  const std::int64_t outputs = shape[0] / group;
  shape[1] *= together;
  Tensor merged({weights.element(), shape});
  const std::int64_t bytes = static_cast<std::int64_t>(weights.type().bytes()) / shape[0];
  for (std::int64_t o = 0; o < shape[0]; ++o) {
    const std::int64_t place = o * together + o / outputs % together;
    std::memcpy(merged.mutable_data() + place * bytes, weights.data() + o * bytes,
                static_cast<std::size_t>(bytes));
  }
  return merged;
}

bool Merge(Rewriter& rewriter, Node& node) {
  if (node.op != "Conv") return false;
  const ir::Graph& graph = rewriter.graph();
  const Tensor* found = graph.ConstantOf(node.inputs[1]);
  const std::int64_t group = node.attributes.get_int("group", 1);
  if (found == nullptr || found->count() == 0 || group == 1) return false;
  if (!CanBlock(graph.type(node.inputs[0])) || !CanBlock(graph.type(node.outputs[0]))) return false;
  const Tensor weights = *found;
  const Shape& shape = weights.shape();
  const bool has_taps = shape[2] * shape[3] > 1;
  const std::int64_t inputs = shape[1];
  const std::int64_t outputs = shape[0] / group;
  if (!has_taps || (inputs % kBlock == 0 && outputs % kBlock == 0)) return false;
  const std::int64_t together = GroupsTogether(group, inputs, outputs);
  if (together == 1) return false;
  node.inputs[1] =
      rewriter.AddConstant(node.name + "_merged", MergedWeights(weights, group, together));
  node.attributes.set("group", group / together);
  return true;
}

}  // namespace

absl::Status MergeGroups(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Merge);
  return absl::OkStatus();
}

}  // namespace poprt::passes
