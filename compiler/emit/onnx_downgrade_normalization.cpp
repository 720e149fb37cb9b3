#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

/// Before opset 13 all dimensions from the axis on are one row.
absl::Status DowngradeSoftmax(const DowngradeCall& call) {
  const Shape& shape = call.input().shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis =
      NormalizeAxis(call.node.attributes.get_int("axis", -1), shape.size()).value_or(rank - 1);
  const bool is_row = std::all_of(shape.begin() + axis + 1, shape.end(),
                                  [](std::int64_t extent) { return extent == 1; });
  call.node.attributes.set("axis", axis);
  if (is_row) return absl::OkStatus();
  Ints order;
  for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  TensorType swapped = call.input();
  std::swap(swapped.shape[static_cast<std::size_t>(axis)], swapped.shape.back());
  DowngradeSteps steps(call);
  const OnnxValue last = steps.Do("Transpose", {call.node.inputs[0]}, swapped, {{"perm", order}});
  const OnnxValue result = steps.Do(call.node.op, {last}, swapped, {{"axis", rank - 1}});
  return steps.Finish("Transpose", {result}, {{"perm", order}});
}

absl::Status DowngradeLayerNormalization(const DowngradeCall& call) {
  if (call.node.outputs.size() > 1) {
    return absl::UnimplementedError("the outputs mean and deviation need opset 17");
  }
  const std::size_t rank = call.input().shape.size();
  const auto axis = NormalizeAxis(call.node.attributes.get_int("axis", -1), rank).value_or(0);
  TensorType moment = call.input();
  Ints axes;
  for (std::int64_t i = axis; i < static_cast<std::int64_t>(rank); ++i) {
    axes.push_back(i);
    moment.shape[static_cast<std::size_t>(i)] = 1;
  }
  DowngradeSteps steps(call);
  const std::vector<OnnxValue> inputs = call.node.inputs;
  const float epsilon = call.node.attributes.get_float("epsilon", 1e-5F);
  const OnnxValue mean = steps.Do("ReduceMean", {inputs[0]}, moment, {{"axes", axes}});
  const OnnxValue centred = steps.Do("Sub", {inputs[0], mean});
  const OnnxValue square = steps.Do("Mul", {centred, centred});
  const OnnxValue variance = steps.Do("ReduceMean", {square}, moment, {{"axes", axes}});
  const OnnxValue raised = steps.Do("Add", {variance, steps.Number(epsilon)}, moment, {});
  const OnnxValue normal = steps.Do("Div", {centred, steps.Do("Sqrt", {raised}, moment, {})});
  if (inputs.size() < 3) return steps.Finish("Mul", {normal, inputs[1]});
  const OnnxValue scaled = steps.Do("Mul", {normal, inputs[1]});
  return steps.Finish("Add", {scaled, inputs[2]});
}

/// InstanceNormalization of the groups, then scale and bias of the channels.
absl::Status DowngradeGroupNormalization(const DowngradeCall& call) {
  const TensorType type = call.input();
  const std::int64_t groups = call.node.attributes.get_int("num_groups", 1);
  const float epsilon = call.node.attributes.get_float("epsilon", 1e-5F);
  const std::vector<OnnxValue> inputs = call.node.inputs;
  DowngradeSteps steps(call);
  const std::int64_t rows = type.shape[0] * groups;
  const TensorType grouped{
      type.element, {type.shape[0], groups, rows == 0 ? 0 : ElementCount(type.shape) / rows}};
  const TensorType per_group{type.element, {groups}};
  TensorType per_channel{type.element, Shape(type.shape.size(), 1)};
  per_channel.shape[1] = type.shape[1];
  const auto reshape = [&](const OnnxValue& value, const TensorType& to) {
    return steps.Do("Reshape", {value}, to, {{"shape", Ints(to.shape)}});
  };
  const auto fill = [&](float value) {
    return steps.Do("Expand", {steps.Number(value)}, per_group, {{"shape", Ints{groups}}});
  };
  const OnnxValue normal =
      steps.Do("InstanceNormalization", {reshape(inputs[0], grouped), fill(1.0F), fill(0.0F)},
               grouped, {{"epsilon", epsilon}});
  const OnnxValue scaled =
      steps.Do("Mul", {reshape(normal, type), reshape(inputs[1], per_channel)});
  const OnnxValue bias = reshape(inputs[2], per_channel);
  return steps.Finish("Add", {scaled, bias});
}

constexpr DowngradeRow kRows[] = {
    {"GroupNormalization", 21, DowngradeGroupNormalization},
    {"Hardmax", 13, DowngradeSoftmax},
    {"LayerNormalization", 17, DowngradeLayerNormalization},
    {"LogSoftmax", 13, DowngradeSoftmax},
    {"Softmax", 13, DowngradeSoftmax},
};

}  // namespace

std::span<const DowngradeRow> NormalizationDowngrades() { return kRows; }

}  // namespace poprt::emit
