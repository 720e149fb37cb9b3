#include "passes/conversion/eliminate_nop_pad.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// Equal shapes would not do: pads of 1 and -1 shift the tensor.
bool PadsNothing(const ir::Node& node) {
  return std::ranges::all_of(node.attributes.get_ints("pads"),
                             [](std::int64_t pad) { return pad == 0; });
}

}  // namespace

absl::Status EliminateNopPad(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return node.op == "Pad" && PadsNothing(node) && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
