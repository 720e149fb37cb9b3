#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

/// CausalConvWithState in terms of other operators.
namespace poprt::frontend {
namespace {

using ir::ValueId;

constexpr std::size_t kInput = 0;
constexpr std::size_t kWeight = 1;
constexpr std::size_t kBias = 2;
constexpr std::size_t kPast = 3;

absl::Status Check(const UpgradeCall& call) {
  for (const std::size_t i : {kInput, kWeight}) {
    if (!call.type(i).defined()) return call.MissingInput(i);
    if (call.type(i).shape.size() != 3) return call.WrongInput(i, "it must have 3 dimensions");
  }
  const Shape& data = call.type(kInput).shape;
  const Shape& weight = call.type(kWeight).shape;
  if (weight[0] != data[1] || weight[1] != 1 || weight[2] < 1) {
    return call.WrongInput(kWeight, "it must be [" + std::to_string(data[1]) +
                                        ", 1, k], a filter for each channel of input 0");
  }
  const Shape bias{data[1]};
  if (call.type(kBias).defined() && call.type(kBias).shape != bias) {
    return call.WrongInput(kBias, "its shape must be " + ToString(bias));
  }
  const Shape past{data[0], data[1], weight[2] - 1};
  if (call.type(kPast).defined() && call.type(kPast).shape != past) {
    return call.WrongInput(kPast, "its shape must be " + ToString(past));
  }
  return absl::OkStatus();
}

/// What came before the input, and the input.
ValueId WithPast(const UpgradeCall& call, UpgradeSteps& steps) {
  const std::int64_t before = call.type(kWeight).shape[2] - 1;
  if (before == 0) return call.input(kInput);
  ValueId past = call.input(kPast);
  if (!call.type(kPast).defined()) {
    const Shape& data = call.type(kInput).shape;
    past = steps.Constant("past", Tensor({call.type(kInput).element, {data[0], data[1], before}}));
  }
  return steps.Do("Concat", {past, call.input(kInput)}, {{"axis", std::int64_t{2}}});
}

/// x * sigmoid(x), in float32 at least.
ValueId Silu(UpgradeSteps& steps, ValueId value) {
  const ElementType element = steps.type(value).element;
  const ValueId wide = steps.Cast(value, ElementType::kFloat32);
  return steps.Cast(steps.Do("Mul", {wide, steps.Do("Sigmoid", {wide})}), element);
}

absl::Status UpgradeCausalConvWithState(const UpgradeCall& call) {
  const std::string activation = call.node.attributes.get_string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return absl::InvalidArgumentError("attribute 'activation' is '" + activation +
                                      "', allowed are none, silu and swish");
  }
  if (absl::Status status = Check(call); !status.ok()) return status;
  UpgradeSteps steps(call);
  const ValueId data = WithPast(call, steps);
  std::vector<ValueId> operands{data, call.input(kWeight)};
  if (call.type(kBias).defined()) operands.push_back(call.input(kBias));
  ValueId result = steps.Do("Conv", operands, {{"group", call.type(kInput).shape[1]}});
  if (activation != "none") result = Silu(steps, result);
  if (!steps.ok()) return steps.FinishWith({});
  const std::int64_t kept = call.type(kWeight).shape[2] - 1;
  const std::int64_t length = steps.type(data).shape[2];
  const ValueId present =
      steps.Do("Slice", {data},
               {{"starts", Ints{length - kept}}, {"ends", Ints{length}}, {"axes", Ints{2}}});
  return steps.FinishWith(std::vector{result, present});
}

constexpr UpgradeRow kRows[] = {
    {"CausalConvWithState", kAlways, UpgradeCausalConvWithState, true},
};

}  // namespace

std::span<const UpgradeRow> CausalConvUpgrades() { return kRows; }

}  // namespace poprt::frontend
