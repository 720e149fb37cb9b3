#include "passes/conversion/eliminate_nop_slice.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// Equal shapes would not do: steps of -1 reverse the tensor.
bool KeepsOrder(const ir::Node& node) {
  return std::ranges::all_of(node.attributes.get_ints("steps"),
                             [](std::int64_t step) { return step > 0; });
}

}  // namespace

absl::Status EliminateNopSlice(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return node.op == "Slice" && KeepsOrder(node) && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
