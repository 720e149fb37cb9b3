#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

absl::Status DowngradeGelu(const DowngradeCall& call) {
  DowngradeSteps steps(call);
  const OnnxValue x = call.node.inputs[0];
  OnnxValue inner;
  if (call.node.attributes.get_string("approximate", "none") == "tanh") {
    const OnnxValue square = steps.Do("Mul", {x, x});
    const OnnxValue cube = steps.Do("Mul", {square, x});
    const OnnxValue scaled = steps.Do("Mul", {cube, steps.Number(0.044715F)});
    const OnnxValue sum = steps.Do("Add", {x, scaled});
    inner = steps.Do("Tanh", {steps.Do("Mul", {sum, steps.Number(0.7978845608F)})});
  } else {
    inner = steps.Do("Erf", {steps.Do("Mul", {x, steps.Number(0.7071067812F)})});
  }
  const OnnxValue gate = steps.Do("Add", {inner, steps.Number(1.0F)});
  const OnnxValue product = steps.Do("Mul", {x, gate});
  const OnnxValue half = steps.Number(0.5F);
  return steps.Finish("Mul", {product, half});
}

absl::Status DowngradeHardSwish(const DowngradeCall& call) {
  DowngradeSteps steps(call);
  const OnnxValue x = call.node.inputs[0];
  const OnnxValue gate = steps.Do("HardSigmoid", {x}, {{"alpha", 1.0F / 6.0F}, {"beta", 0.5F}});
  return steps.Finish("Mul", {x, gate});
}

absl::Status DowngradeMish(const DowngradeCall& call) {
  DowngradeSteps steps(call);
  const OnnxValue x = call.node.inputs[0];
  const OnnxValue gate = steps.Do("Tanh", {steps.Do("Softplus", {x})});
  return steps.Finish("Mul", {x, gate});
}

constexpr DowngradeRow kRows[] = {
    {"Gelu", 20, DowngradeGelu},
    {"HardSwish", 14, DowngradeHardSwish},
    {"Mish", 18, DowngradeMish},
};

}  // namespace

std::span<const DowngradeRow> ActivationDowngrades() { return kRows; }

}  // namespace poprt::emit
