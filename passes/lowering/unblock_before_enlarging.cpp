#include "passes/lowering/unblock_before_enlarging.hpp"

#include <utility>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

bool Exchange(Rewriter& rewriter, Node& unblock) {
  if (unblock.op != "UnblockChannels" || unblock.attributes.has("channels_last")) return false;
  const Node* resize = rewriter.Producer(unblock.inputs[0], "Resize");
  if (resize == nullptr || !rewriter.UsedOnlyBy(1, unblock.inputs[0])) return false;
  // What was made blocks in order to be resized is left as it is.
  if (rewriter.Producer(resize->inputs[0], "BlockChannels") != nullptr) return false;
  ir::Graph& graph = rewriter.graph();
  const TensorType from = graph.type(resize->inputs[0]);
  const TensorType& planes = graph.type(unblock.outputs[0]);
  if (ElementCount(from.shape) >= ElementCount(graph.type(unblock.inputs[0]).shape)) return false;
  const TensorType small{planes.element,
                         {from.shape[0], planes.shape[1], from.shape[2], from.shape[3]}};
  Attributes resizing = resize->attributes;
  unblock.inputs = {rewriter.Insert(graph.MakeNode("UnblockChannels", {resize->inputs[0]}, small,
                                                   unblock.attributes, resize->name))};
  unblock.op = "Resize";
  unblock.attributes = std::move(resizing);
  return true;
}

}  // namespace

absl::Status UnblockBeforeEnlarging(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Exchange);
  return absl::OkStatus();
}

}  // namespace poprt::passes
