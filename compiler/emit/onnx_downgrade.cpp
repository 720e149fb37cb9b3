#include "compiler/emit/onnx_downgrade.hpp"

#include <optional>
#include <utility>

#include "compiler/emit/onnx_downgrade_call.hpp"
#include "compiler/frontend/proto/float_scalar.hpp"

namespace poprt::emit {
namespace {

/// The rule for the operator, null when every opset has its newest form.
const DowngradeRow* FindRow(std::string_view op) {
  for (const auto topic : {
           ActivationDowngrades(),
           ElementTypeDowngrades(),
           MlDowngrades(),
           MovementDowngrades(),
           NormalizationDowngrades(),
           RecurrentDowngrades(),
           ReductionDowngrades(),
           SignalDowngrades(),
           VisionDowngrades(),
       }) {
    for (const DowngradeRow& row : topic) {
      if (row.op == op) return &row;
    }
  }
  return nullptr;
}

}  // namespace

absl::Status NeedsOpset(const std::string& what, int opset) {
  return absl::UnimplementedError(what + " needs opset " + std::to_string(opset));
}

OnnxValue DowngradeSteps::Do(const std::string& op, std::vector<OnnxValue> inputs,
                             Attributes attributes) {
  return Do(op, std::move(inputs), node_.outputs[0].type, std::move(attributes));
}

OnnxValue DowngradeSteps::Do(const std::string& op, std::vector<OnnxValue> inputs, TensorType type,
                             Attributes attributes) {
  return writer_.Emit(node_.name + "/" + op, op, std::move(inputs), std::move(type),
                      std::move(attributes), status_);
}

OnnxValue DowngradeSteps::Number(float value) {
  const auto scalar = frontend::FloatScalar(node_.outputs[0].type.element, value);
  if (!scalar) {
    status_.Update(absl::UnimplementedError("has no form for elements that are no floats"));
    return {};
  }
  return writer_.Constant(node_.name + "/constant", *scalar);
}

absl::Status DowngradeSteps::Finish(const std::string& op, std::vector<OnnxValue> inputs,
                                    Attributes attributes) {
  node_.op = op;
  node_.inputs = std::move(inputs);
  node_.attributes = std::move(attributes);
  return status_;
}

absl::Status Downgrade(OnnxNode& node, OnnxNodeWriter& writer) {
  const DowngradeRow* row = FindRow(node.op);
  if (row == nullptr || writer.opset() >= row->before) return absl::OkStatus();
  return row->downgrade({.node = node, .writer = writer});
}

}  // namespace poprt::emit
