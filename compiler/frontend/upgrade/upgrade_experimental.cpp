#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

/// The experimental operators of ONNX before version 1.5, by their later counterparts.
namespace poprt::frontend {
namespace {

using ir::ValueId;

/// value * factor, or the value itself for a factor of 1.
ValueId Scaled(UpgradeSteps& steps, ValueId value, float factor) {
  if (factor == 1.0F) return value;
  return steps.Do("Mul", {value, steps.Number(factor, steps.type(value).element)});
}

absl::Status UpgradeAffine(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const float alpha = call.node.attributes.get_float("alpha", 1.0F);
  const float beta = call.node.attributes.get_float("beta", 0.0F);
  UpgradeSteps steps(call);
  const ValueId scaled = Scaled(steps, call.input(0), alpha);
  return steps.Finish("Add", {scaled, steps.Number(beta, call.type(0).element)});
}

absl::Status UpgradeScale(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const float scale = call.node.attributes.get_float("scale", 1.0F);
  UpgradeSteps steps(call);
  return steps.Finish("Mul", {call.input(0), steps.Number(scale, call.type(0).element)});
}

/// alpha * op(beta * x)
absl::Status UpgradeScaled(const UpgradeCall& call, const std::string& op) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const float alpha = call.node.attributes.get_float("alpha", 1.0F);
  const float beta = call.node.attributes.get_float("beta", 1.0F);
  UpgradeSteps steps(call);
  const ValueId inner = steps.Do(op, {Scaled(steps, call.input(0), beta)});
  return steps.Finish("Mul", {inner, steps.Number(alpha, call.type(0).element)});
}

absl::Status UpgradeParametricSoftplus(const UpgradeCall& call) {
  return UpgradeScaled(call, "Softplus");
}

absl::Status UpgradeScaledTanh(const UpgradeCall& call) { return UpgradeScaled(call, "Tanh"); }

/// A bias for each channel.
absl::Status UpgradeImageScaler(const UpgradeCall& call) {
  const TensorType image = call.type(0);
  const Floats bias = call.node.attributes.get_floats("bias");
  const float scale = call.node.attributes.get_float("scale", 1.0F);
  const auto channels = static_cast<std::int64_t>(bias.size());
  if (image.shape.size() != 4 || (channels != 0 && image.shape[1] != channels)) {
    return absl::InvalidArgumentError("input 0 is " + ToString(image) +
                                      ", it must have 4 dimensions and a channel for each of the " +
                                      std::to_string(channels) + " numbers of attribute 'bias'");
  }
  UpgradeSteps steps(call);
  const ValueId scaled = Scaled(steps, call.input(0), scale);
  if (bias.empty()) return steps.Finish("Identity", {scaled});
  const ValueId column =
      steps.Constant("bias", Tensor::Of<float>(ElementType::kFloat32, {1, channels, 1, 1}, bias));
  return steps.Finish("Add", {scaled, steps.Cast(column, image.element)});
}

/// Removes `border` (left, top, right, bottom) of images, or all but `scale` (height, width) from
/// its left and top on.
absl::Status UpgradeCrop(const UpgradeCall& call) {
  const Shape shape = call.type(0).shape;
  const Ints border = call.node.attributes.get_ints("border");
  const Ints scale = call.node.attributes.get_ints("scale");
  if (shape.size() != 4 || border.size() != 4 || (!scale.empty() && scale.size() != 2)) {
    return absl::InvalidArgumentError(
        "input 0 is " + ToString(call.type(0)) + ", attributes 'border' and 'scale' have " +
        std::to_string(border.size()) + " and " + std::to_string(scale.size()) +
        " numbers; 4 dimensions, 4 numbers and none or 2 are needed");
  }
  const Ints starts{border[1], border[0]};
  Ints ends{shape[2] - border[3], shape[3] - border[2]};
  if (!scale.empty()) ends = {starts[0] + scale[0], starts[1] + scale[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    if (starts[i] < 0 || ends[i] < starts[i] || ends[i] > shape[2 + i]) {
      return absl::InvalidArgumentError(
          "attributes 'border' and 'scale' cut rows or columns " + std::to_string(starts[i]) +
          " to " + std::to_string(ends[i]) + " out of input 0, " + ToString(call.type(0)));
    }
  }
  return UpgradeSteps(call).Finish("Slice", {call.input(0)},
                                   {{"starts", starts}, {"ends", ends}, {"axes", Ints{2, 3}}});
}

/// Images one by one, each channel on its own or all of them together.
absl::Status UpgradeMeanVariance(const UpgradeCall& call) {
  const Attributes attributes = call.node.attributes;
  const auto rank = static_cast<std::int64_t>(call.type(0).shape.size());
  if (rank < 2) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", it must have at least 2 dimensions");
  }
  Ints axes;
  const bool is_joint = attributes.get_int("across_channels", 0) != 0;
  for (std::int64_t axis = is_joint ? 1 : 2; axis < rank; ++axis) axes.push_back(axis);
  UpgradeSteps steps(call);
  if (attributes.get_int("normalize_variance", 1) != 0) {
    return steps.Finish("MeanVarianceNormalization", {call.input(0)}, {{"axes", axes}});
  }
  const ValueId mean = steps.Do("ReduceMean", {call.input(0)}, {{"axes", axes}});
  return steps.Finish("Sub", {call.input(0), mean});
}

/// The shape that attributes and, with `input_as_shape`, the input describe.
absl::StatusOr<Shape> ShapeToFill(const UpgradeCall& call) {
  const Attributes& attributes = call.node.attributes;
  Shape shape = attributes.get_ints("shape");
  if (call.type(0).defined()) {
    if (attributes.get_int("input_as_shape", 0) != 0) {
      const Tensor* values = call.constant(0);
      if (values == nullptr || values->element() != ElementType::kInt64) {
        return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                          ", it must be a constant of int64 that gives the shape");
      }
      const auto extents = values->as<std::int64_t>();
      shape.assign(extents.begin(), extents.end());
    } else if (shape.empty()) {
      shape = call.type(0).shape;
    }
    const Ints extra = attributes.get_ints("extra_shape");
    shape.insert(shape.end(), extra.begin(), extra.end());
  }
  if (!CheckedElementCount(shape)) {
    return absl::InvalidArgumentError("the shape " + ToString(shape) + " is impossible");
  }
  return shape;
}

absl::Status UpgradeConstantFill(const UpgradeCall& call) {
  const absl::StatusOr<Shape> shape = ShapeToFill(call);
  if (!shape.ok()) return shape.status();
  const std::int64_t dtype = call.node.attributes.get_int("dtype", 1);
  const float value = call.node.attributes.get_float("value", 0.0F);
  if (dtype < 0 || dtype > 255 || !IsElementType(static_cast<std::uint8_t>(dtype))) {
    return absl::InvalidArgumentError("attribute 'dtype' is " + std::to_string(dtype) +
                                      ", which is no supported element type");
  }
  UpgradeSteps steps(call);
  const ValueId scalar = steps.Number(value, static_cast<ElementType>(dtype));
  return steps.Finish("Expand", {scalar}, {{"shape", Ints(*shape)}});
}

absl::Status UpgradeGivenTensorFill(const UpgradeCall& call) {
  const absl::StatusOr<Shape> shape = ShapeToFill(call);
  if (!shape.ok()) return shape.status();
  const Floats values = call.node.attributes.get_floats("values");
  if (ElementCount(*shape) != static_cast<std::int64_t>(values.size())) {
    return absl::InvalidArgumentError("attribute 'values' has " + std::to_string(values.size()) +
                                      " numbers, the shape is " + ToString(*shape));
  }
  UpgradeSteps steps(call);
  return steps.Finish(
      "Identity",
      {steps.Constant("values", Tensor::Of<float>(ElementType::kFloat32, *shape, values))});
}

constexpr UpgradeRow kRows[] = {
    {"Affine", kAlways, UpgradeAffine, true},
    {"ConstantFill", kAlways, UpgradeConstantFill, true},
    {"Crop", kAlways, UpgradeCrop, true},
    {"GivenTensorFill", kAlways, UpgradeGivenTensorFill, true},
    {"ImageScaler", kAlways, UpgradeImageScaler, true},
    {"MeanVarianceNormalization", 9, UpgradeMeanVariance},
    {"ParametricSoftplus", kAlways, UpgradeParametricSoftplus, true},
    {"Scale", kAlways, UpgradeScale, true},
    {"ScaledTanh", kAlways, UpgradeScaledTanh, true},
};

}  // namespace

std::span<const UpgradeRow> ExperimentalUpgrades() { return kRows; }

}  // namespace poprt::frontend
