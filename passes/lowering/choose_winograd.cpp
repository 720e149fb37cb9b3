#include "passes/lowering/choose_winograd.hpp"

#include <string>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/convolution_cost.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/blocked/winograd_filter.hpp"

namespace poprt::passes {
namespace {

constexpr std::size_t kBlockedRank = 5;

/// Whether every group has blocks of channels of its own.
bool HasWholeGroups(const ConvolutionSize& size) {
  return size.group == 1 || (size.in_channels / size.group % kBlock == 0 &&
                             size.out_channels / size.group % kBlock == 0);
}

ConvolutionSize SizeOf(const ir::Graph& graph, const ir::Node& conv) {
  const Shape& x = graph.type(conv.inputs[0]).shape;
  const Shape& y = graph.type(conv.outputs[0]).shape;
  const Ints dilations = conv.attributes.get_ints("dilations", {1, 1});
  const Ints kernel = conv.attributes.get_ints("kernel_shape", {1, 1});
  const Ints strides = conv.attributes.get_ints("strides", {1, 1});
  return {.batch = x[0],
          .in_channels = conv.attributes.get_int("in_channels", 0),
          .out_channels = conv.attributes.get_int("out_channels", 0),
          .group = conv.attributes.get_int("group", 1),
          .in_height = x[2],
          .in_width = x[3],
          .out_height = y[2],
          .out_width = y[3],
          .dilation_height = dilations[0],
          .dilation_width = dilations[1],
          .stride_height = strides[0],
          .stride_width = strides[1],
          .kernel_height = kernel[0],
          .kernel_width = kernel[1]};
}

std::string NameOf(std::int64_t tile, const ConvolutionSize& size) {
  if (tile == 0) return "direct";
  const auto [rows, columns] =
      kernels::RequireWinogradFilter({size.kernel_height, size.kernel_width}, tile);
  return "Winograd F(" + std::to_string(rows.tile) + "x" + std::to_string(columns.tile) + ")";
}

std::string Describe(const ConvolutionSize& size) {
  const std::string batch = size.batch == 1 ? "" : ", batch " + std::to_string(size.batch);
  const std::string groups = size.group == 1 ? "" : " in " + std::to_string(size.group) + " groups";
  const bool is_dilated = size.dilation_height != 1 || size.dilation_width != 1;
  const std::string dilation = is_dilated ? ", dilation " + std::to_string(size.dilation_height) +
                                                "x" + std::to_string(size.dilation_width)
                                          : "";
  const std::string kernel =
      std::to_string(size.kernel_height) + "x" + std::to_string(size.kernel_width);
  return kernel + " convolution" + dilation + ", " + std::to_string(size.in_channels) + " to " +
         std::to_string(size.out_channels) + " channels" + groups + ", " +
         std::to_string(size.out_height) + "x" + std::to_string(size.out_width) + batch;
}

Decision DecisionOn(const ir::Node& conv, const ConvolutionSize& size,
                    const std::vector<std::int64_t>& tiles) {
  Decision decision{.what = Describe(size), .alternatives = {}};
  for (const std::int64_t tile : tiles) {
    ir::Node node = conv;
    if (tile > 0) node.attributes.set("winograd_tile", tile);
    decision.alternatives.push_back(
        {NameOf(tile, size), std::move(node), ConvolutionCost(tile, size)});
  }
  return decision;
}

}  // namespace

absl::Status ChooseWinograd(ir::Graph& graph, const PassContext& context) {
  for (ir::Node& node : graph.nodes) {
    if (node.op != "BlockedConv") continue;
    if (graph.type(node.inputs[0]).shape.size() != kBlockedRank) continue;
    const ConvolutionSize size = SizeOf(graph, node);
    const std::vector<std::int64_t> tiles = TilesFor(size);
    if (tiles.size() == 1 || !HasWholeGroups(size)) continue;
    Decision decision = DecisionOn(node, size, tiles);
    const std::size_t chosen = context.decide(graph, decision);
    node = std::move(decision.alternatives[chosen].node);
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
