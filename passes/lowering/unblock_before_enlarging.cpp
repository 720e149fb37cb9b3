#include "passes/lowering/unblock_before_enlarging.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

/// Pixels of more channels are copied as they are.
constexpr std::int64_t kFewChannels = 8;

bool Exchange(Rewriter& rewriter, Node& unblock) {
  if (unblock.op != "UnblockChannels") return false;
  ir::Graph& graph = rewriter.graph();
  TensorType planes = graph.type(unblock.outputs[0]);
  const bool channels_last = unblock.attributes.has("channels_last");
  if (channels_last) {
    if (planes.shape.back() > kFewChannels) return false;
    std::rotate(planes.shape.begin() + 1, planes.shape.end() - 1, planes.shape.end());
  }
  const Node* resize = rewriter.Producer(unblock.inputs[0], "Resize");
  if (resize == nullptr || !rewriter.UsedOnlyBy(1, unblock.inputs[0])) return false;
  // What was made blocks in order to be resized is left as it is.
  if (rewriter.Producer(resize->inputs[0], "BlockChannels") != nullptr) return false;
  const TensorType from = graph.type(resize->inputs[0]);
  if (ElementCount(from.shape) >= ElementCount(graph.type(unblock.inputs[0]).shape)) return false;
  const TensorType small{planes.element,
                         {from.shape[0], planes.shape[1], from.shape[2], from.shape[3]}};
  Attributes unblocking = unblock.attributes;
  unblocking.erase("channels_last");
  Attributes resizing = resize->attributes;
  const std::string name = resize->name;
  const auto x = rewriter.Insert(
      graph.MakeNode("UnblockChannels", {resize->inputs[0]}, small, std::move(unblocking), name));
  if (channels_last) {
    unblock.inputs = {
        rewriter.Insert(graph.MakeNode("Resize", {x}, planes, std::move(resizing), name))};
    unblock.op = "Transpose";
    unblock.attributes = {{"perm", Ints{0, 2, 3, 1}}};
  } else {
    unblock.inputs = {x};
    unblock.op = "Resize";
    unblock.attributes = std::move(resizing);
  }
  return true;
}

}  // namespace

absl::Status UnblockBeforeEnlarging(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Exchange);
  return absl::OkStatus();
}

}  // namespace poprt::passes
