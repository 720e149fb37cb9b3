#include "compiler/frontend/upgrade/upgrade_steps.hpp"

#include <cstdint>
#include <utility>

namespace poprt::frontend {

using ir::kAbsent;
using ir::ValueId;

ValueId UpgradeSteps::Do(const std::string& op, std::vector<ValueId> inputs,
                         Attributes attributes) {
  if (!status_.ok()) return kAbsent;
  absl::StatusOr<ValueId> value =
      call_.sink.Add(call_.node.name + "/" + op, op, std::move(inputs), std::move(attributes));
  if (value.ok()) return *value;
  status_ = absl::Status(value.status().code(),
                         op + " in its decomposition: " + std::string(value.status().message()));
  return kAbsent;
}

ValueId UpgradeSteps::Number(double value, ElementType element) {
  const ValueId number = Constant("number", Tensor({ElementType::kFloat64, {}}, &value));
  return Cast(number, element);
}

ValueId UpgradeSteps::Constant(const std::string& name, Tensor tensor) {
  if (!status_.ok()) return kAbsent;
  return call_.sink.AddConstant(call_.node.name + "/" + name, std::move(tensor));
}

ValueId UpgradeSteps::Cast(ValueId value, ElementType element) {
  if (type(value).element == element) return value;
  return Do("Cast", {value}, {{"to", static_cast<std::int64_t>(element)}});
}

ValueId UpgradeSteps::Reshape(ValueId value, const Shape& shape) {
  if (type(value).shape == shape) return value;
  return Do("Reshape", {value}, {{"shape", Ints(shape)}, {"allowzero", std::int64_t{1}}});
}

TensorType UpgradeSteps::type(ValueId value) const {
  return value == kAbsent ? TensorType() : call_.sink.graph().type(value);
}

absl::Status UpgradeSteps::Finish(const std::string& op, std::vector<ValueId> inputs,
                                  Attributes attributes) {
  if (!status_.ok()) return status_;
  call_.node.op = op;
  call_.node.inputs = std::move(inputs);
  call_.node.attributes = std::move(attributes);
  call_.node.outputs.resize(1);
  return absl::OkStatus();
}

absl::Status UpgradeSteps::FinishWith(std::span<const ValueId> values) {
  if (!status_.ok()) return status_;
  for (std::size_t i = 0; i < call_.node.outputs.size(); ++i) {
    const std::string& name = call_.node.outputs[i];
    if (name.empty()) continue;
    if (i < values.size() && values[i] != kAbsent) {
      call_.sink.Define(name, values[i]);
    } else if (call_.sink.IsUsed(name)) {
      return absl::InvalidArgumentError("has no output " + std::to_string(i) + " in this form");
    }
  }
  call_.node.op.clear();
  return absl::OkStatus();
}

}  // namespace poprt::frontend
