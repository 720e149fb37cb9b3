#include "passes/lowering/lower_quantized_add.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool Lower(Rewriter& rewriter, ir::Node& node) {
  const ir::Graph& graph = rewriter.graph();
  if (node.op != "QuantizeLinear") return false;
  const TensorType& y = graph.type(node.outputs[0]);
  const auto to = QuantizationParametersOf(graph, node);
  if (!to || y.element != ElementType::kUint8) return false;
  const ir::ValueId value = BeforeCutOff(rewriter, node, *to);
  const ir::Node* add = rewriter.UsedOnlyBy(1, value) ? rewriter.Producer(value, "Add") : nullptr;
  if (add == nullptr || graph.type(value).element != ElementType::kFloat32) return false;

  std::vector<ir::ValueId> inputs;
  Attributes attributes;
  const auto set = [&attributes](const std::string& name, const QuantizationParameters& of) {
    attributes.set(name + "_scale", static_cast<float>(of.scale));
    attributes.set(name + "_point", static_cast<std::int64_t>(of.point));
  };
  for (const char* name : {"a", "b"}) {
    const ir::Node* dequantize = rewriter.Producer(add->inputs[inputs.size()], "DequantizeLinear");
    if (dequantize == nullptr || graph.type(dequantize->inputs[0]) != y) return false;
    const auto from = QuantizationParametersOf(graph, *dequantize);
    if (!from || !std::isfinite(from->scale)) return false;
    set(name, *from);
    inputs.push_back(dequantize->inputs[0]);
  }
  if (!std::isfinite(to->scale)) return false;
  set("y", *to);
  node.op = "ByteAdd";
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return true;
}

}  // namespace

absl::Status LowerQuantizedAdd(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
