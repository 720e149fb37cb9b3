#include "passes/lowering/lower_quantized_move.hpp"

#include <algorithm>
#include <string_view>

#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// Of these, input 0 is what is moved; further inputs say where to.
constexpr std::string_view kMoves[] = {
    "DepthToSpace", "Expand",       "Flatten", "Gather", "Identity",  "MaxPool",  "Reshape",
    "Slice",        "SpaceToDepth", "Squeeze", "Tile",   "Transpose", "Unsqueeze"};

bool Lower(Rewriter& rewriter, ir::Node& node) {
  const ir::Graph& graph = rewriter.graph();
  if (node.op != "QuantizeLinear" || !rewriter.UsedOnlyBy(1, node.inputs[0])) return false;
  const ir::Node* move = rewriter.Producer(node.inputs[0]);
  if (move == nullptr || std::ranges::count(kMoves, move->op) == 0) return false;
  if (move->outputs.size() != 1) return false;
  const ir::Node* dequantize = rewriter.Producer(move->inputs[0], "DequantizeLinear");
  if (dequantize == nullptr) return false;
  const ElementType element = graph.type(node.outputs[0]).element;
  const bool is_byte = element == ElementType::kInt8 || element == ElementType::kUint8;
  if (!is_byte || graph.type(dequantize->inputs[0]).element != element) return false;
  const auto from = QuantizationParametersOf(graph, *dequantize);
  const auto to = QuantizationParametersOf(graph, node);
  if (!from || !to || from->scale != to->scale || from->point != to->point) return false;
  node.op = move->op;
  node.attributes = move->attributes;
  node.inputs = move->inputs;
  node.inputs[0] = dequantize->inputs[0];
  return true;
}

}  // namespace

absl::Status LowerQuantizedMove(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
