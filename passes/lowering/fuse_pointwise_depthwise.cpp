#include "passes/lowering/fuse_pointwise_depthwise.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

/// Of a block of channels in the rows of a window: half of what the kernel keeps in the cache.
constexpr std::int64_t kMostFloats = 1 << 15;

/// Whether the rows between the convolutions are few and each is needed.
bool WindowFits(const Graph& graph, const Node& depthwise) {
  const Shape& x = graph.type(depthwise.inputs[0]).shape;
  const kernels::Window window = kernels::ResolveWindow(
      depthwise.attributes, {x[2], x[3]}, depthwise.attributes.get_ints("kernel_shape"));
  return window.strides[0] <= window.kernel[0] && window.strides[1] <= window.kernel[1] &&
         window.Reach(0) <= kMostFloats / kBlock / x[3];
}

bool Fuse(Rewriter& rewriter, Node& node) {
  const Graph& graph = rewriter.graph();
  if (node.op != "BlockedConv" || !IsBlockedDepthwise(graph, node)) return false;
  if (HasInput(node, kResidualInput) || !rewriter.UsedOnlyBy(1, node.inputs[0])) return false;
  const Node* pointwise = rewriter.Producer(node.inputs[0]);
  if (pointwise != nullptr && pointwise->op == "RoundHalf") {
    // Fused operators round once.
    if (!rewriter.UsedOnlyBy(1, pointwise->inputs[0])) return false;
    pointwise = rewriter.Producer(pointwise->inputs[0]);
  }
  if (pointwise == nullptr || !IsBlockedPointwise(graph, *pointwise)) return false;
  if (!WindowFits(graph, node)) return false;

  std::vector<ValueId> inputs = pointwise->inputs;
  inputs.resize(kBiasInput + 1, ir::kAbsent);
  inputs.push_back(node.inputs[1]);
  if (HasInput(node, kBiasInput)) inputs.push_back(node.inputs[kBiasInput]);
  Attributes attributes = node.attributes;
  attributes.erase("group");
  for (const char* name : {"in_channels", "group", "channel_order"}) {
    if (const auto* value = pointwise->attributes.find(name)) attributes.set(name, *value);
  }
  for (const char* name : {"activation", "min", "max", "alpha"}) {
    if (const auto* value = pointwise->attributes.find(name)) {
      attributes.set("inner_" + std::string(name), *value);
    }
  }
  node.op = "BlockedPointwiseDepthwise";
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return true;
}

}  // namespace

absl::Status FusePointwiseDepthwise(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, Fuse);
  } catch (const std::runtime_error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
