#include <cstdint>
#include <string>
#include <vector>

#include "compiler/emit/onnx_downgrade_call.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::emit {
namespace {

/// The rounding to float8e8m0 can be chosen since opset 24.
absl::Status DowngradeCast(const DowngradeCall& call) {
  if (call.node.attributes.get_string("round_mode", "up") != "up") {
    return NeedsOpset("attribute 'round_mode'", 24);
  }
  call.node.attributes.erase("round_mode");
  return absl::OkStatus();
}

/// What QuantizeLinear and DequantizeLinear have in common.
absl::Status DowngradeGrid(const DowngradeCall& call, ElementType quantized) {
  Attributes& attributes = call.node.attributes;
  const int opset = call.writer.opset();
  if (opset < 21) {
    if (attributes.has("block_size")) return NeedsOpset("scaling in blocks", 21);
    if (quantized == ElementType::kInt16 || quantized == ElementType::kUint16) {
      return NeedsOpset("quantising to 16 bits", 21);
    }
  }
  const TensorType& scale = call.node.inputs.at(1).type;
  if (opset < 19 && scale.element != ElementType::kFloat32) {
    return NeedsOpset("a scale that is not float32", 19);
  }
  if (opset < 13) {
    if (ElementCount(scale.shape) != 1) return NeedsOpset("a scale for every channel", 13);
    attributes.erase("axis");
  }
  return absl::OkStatus();
}

absl::Status DowngradeQuantizeLinear(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  std::vector<OnnxValue>& inputs = call.node.inputs;
  const int opset = call.writer.opset();
  const ElementType quantized = call.output().element;
  const TensorType scale = inputs.at(1).type;
  const auto same = static_cast<std::int64_t>(scale.element);
  if (attributes.get_int("precision", same) == same) attributes.erase("precision");
  if (opset < 23 && attributes.has("precision")) return NeedsOpset("attribute 'precision'", 23);
  if (opset < 19) attributes.erase("saturate");
  if (opset < 21) {
    // The zero point tells the type.
    const bool has_point = inputs.size() > 2 && !inputs[2].name.empty();
    if (!has_point && quantized != ElementType::kUint8) {
      inputs.resize(2);
      inputs.push_back(
          call.writer.Constant(call.node.name + "/zero_point", Tensor({quantized, scale.shape})));
    }
    attributes.erase("output_dtype");
  }
  return DowngradeGrid(call, quantized);
}

absl::Status DowngradeDequantizeLinear(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const auto same = static_cast<std::int64_t>(call.node.inputs.at(1).type.element);
  if (attributes.get_int("output_dtype", same) == same) attributes.erase("output_dtype");
  if (call.writer.opset() < 23 && attributes.has("output_dtype")) {
    return NeedsOpset("attribute 'output_dtype'", 23);
  }
  return DowngradeGrid(call, call.input().element);
}

absl::Status DowngradeQLinearMatMul(const DowngradeCall& call) {
  if (call.node.inputs.at(1).type.element != ElementType::kFloat32) {
    return NeedsOpset("a scale that is not float32", 21);
  }
  return absl::OkStatus();
}

constexpr DowngradeRow kRows[] = {
    {"Cast", 24, DowngradeCast},
    {"DequantizeLinear", 23, DowngradeDequantizeLinear},
    {"QLinearMatMul", 21, DowngradeQLinearMatMul},
    {"QuantizeLinear", 23, DowngradeQuantizeLinear},
};

}  // namespace

std::span<const DowngradeRow> ElementTypeDowngrades() { return kRows; }

}  // namespace poprt::emit
