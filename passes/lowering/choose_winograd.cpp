#include "passes/lowering/choose_winograd.hpp"

#include <algorithm>

#include "passes/lowering/convolution_cost.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

constexpr std::size_t kBlockedRank = 5;

/// Whether the convolution is of the kind the algorithm is for: 3x3 taps side by side, each step
/// one pixel.
bool IsPlain3x3(const Attributes& attributes) {
  const auto are = [&](const char* name, std::int64_t wanted, const Ints& otherwise) {
    return std::ranges::all_of(attributes.get_ints(name, otherwise),
                               [&](std::int64_t found) { return found == wanted; });
  };
  return attributes.get_int("group", 1) == 1 && are("kernel_shape", 3, {0}) &&
         are("strides", 1, {}) && are("dilations", 1, {});
}

}  // namespace

absl::Status ChooseWinograd(ir::Graph& graph, const PassContext&) {
  for (ir::Node& node : graph.nodes) {
    if (node.op != "BlockedConv" || !IsPlain3x3(node.attributes)) continue;
    const Shape& x = graph.type(node.inputs[0]).shape;
    const Shape& y = graph.type(node.outputs[0]).shape;
    if (x.size() != kBlockedRank) continue;
    const std::int64_t tile =
        ChooseWinogradTile({.batch = x[0],
                            .in_channels = node.attributes.get_int("in_channels", 0),
                            .out_channels = node.attributes.get_int("out_channels", 0),
                            .in_height = x[2],
                            .in_width = x[3],
                            .out_height = y[2],
                            .out_width = y[3]});
    if (tile > 0) node.attributes.set("winograd_tile", tile);
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
