#include "passes/conversion/eliminate_nop_transpose.hpp"

#include <algorithm>

#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// The axes that have more than one element stay in their order.
bool KeepsOrder(const ir::Graph& graph, const ir::Node& node) {
  const Shape& shape = graph.type(node.inputs[0]).shape;
  Ints moved = PermutationOf(graph, node);
  std::erase_if(moved,
                [&](std::int64_t axis) { return shape[static_cast<std::size_t>(axis)] == 1; });
  return std::ranges::is_sorted(moved);
}

}  // namespace

absl::Status EliminateNopTranspose(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return node.op == "Transpose" && KeepsOrder(rewriter.graph(), node) && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
