#include "compiler/emit/onnx_downgrade.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/frontend/float_scalar.hpp"

namespace poprt::emit {
namespace {

/// For rules that hold in every opset.
constexpr int kAlways = 1000;

struct DowngradeCall {
  OnnxNode& node;
  OnnxNodeWriter& writer;

  const TensorType& input() const { return node.inputs.at(0).type; }
  const TensorType& output() const { return node.outputs.at(0).type; }
};

/// Writes the steps of a decomposition, which all have the type of the node's first output.
class Steps {
 public:
  explicit Steps(const DowngradeCall& call) : node_(call.node), writer_(call.writer) {}

  OnnxValue Do(const std::string& op, std::vector<OnnxValue> inputs, Attributes attributes = {}) {
    return Do(op, std::move(inputs), node_.outputs[0].type, std::move(attributes));
  }
  OnnxValue Do(const std::string& op, std::vector<OnnxValue> inputs, TensorType type,
               Attributes attributes) {
    return writer_.Emit(node_.name + "/" + op, op, std::move(inputs), std::move(type),
                        std::move(attributes), status_);
  }
  OnnxValue Number(float value) {
    const auto scalar = frontend::FloatScalar(node_.outputs[0].type.element, value);
    if (!scalar) {
      status_.Update(absl::UnimplementedError("has no form for elements that are no floats"));
      return {};
    }
    return writer_.Constant(node_.name + "/constant", *scalar);
  }
  /// The node becomes the last step.
  absl::Status Finish(const std::string& op, std::vector<OnnxValue> inputs,
                      Attributes attributes = {}) {
    node_.op = op;
    node_.inputs = std::move(inputs);
    node_.attributes = std::move(attributes);
    return status_;
  }

 private:
  OnnxNode& node_;
  OnnxNodeWriter& writer_;
  absl::Status status_;
};

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
  Steps steps(call);
  const OnnxValue last = steps.Do("Transpose", {call.node.inputs[0]}, swapped, {{"perm", order}});
  const OnnxValue result = steps.Do(call.node.op, {last}, swapped, {{"axis", rank - 1}});
  return steps.Finish("Transpose", {result}, {{"perm", order}});
}

/// Parts that are not equal must be spelled out before opset 18; later their number must be.
absl::Status DowngradeSplit(const DowngradeCall& call) {
  OnnxNode& node = call.node;
  node.attributes.erase("num_outputs");
  if (!node.attributes.get_ints("split").empty()) return absl::OkStatus();
  const auto axis =
      NormalizeAxis(node.attributes.get_int("axis", 0), call.input().shape.size()).value_or(0);
  Ints parts;
  for (const OnnxValue& output : node.outputs) {
    parts.push_back(output.type.shape[static_cast<std::size_t>(axis)]);
  }
  const bool equal =
      std::all_of(parts.begin(), parts.end(), [&](std::int64_t part) { return part == parts[0]; });
  if (call.writer.opset() >= 18) {
    node.attributes.set("num_outputs", static_cast<std::int64_t>(parts.size()));
  } else if (!equal) {
    node.attributes.set("split", parts);
  }
  return absl::OkStatus();
}

absl::Status DowngradeResize(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  if (attributes.get_string("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return absl::UnimplementedError("keeping the aspect ratio needs opset 18");
  }
  attributes.erase("keep_aspect_ratio_policy");
  const std::size_t rank = call.input().shape.size();
  if (attributes.has("axes")) {
    const Ints axes = attributes.get_ints("axes");
    Floats scales(rank, 1.0F);
    const Floats given = attributes.get_floats("scales");
    for (std::size_t i = 0; i < axes.size() && i < given.size(); ++i) {
      const auto axis = NormalizeAxis(axes[i], rank);
      if (axis) scales[static_cast<std::size_t>(*axis)] = given[i];
    }
    if (attributes.has("roi")) {
      return absl::UnimplementedError("a region of interest of some axes needs opset 18");
    }
    if (given.empty()) {
      attributes.set("sizes", Ints(call.output().shape));
    } else {
      attributes.set("scales", scales);
    }
    attributes.erase("axes");
  }
  // Opset 11 and 12 want all inputs, empty ones where there is nothing to say.
  if (call.writer.opset() < 13) {
    for (const char* name : {"roi", "scales"}) {
      if (!attributes.has(name)) attributes.set(name, Floats());
    }
  }
  return absl::OkStatus();
}

absl::Status DowngradePad(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  if (!attributes.has("axes")) return absl::OkStatus();
  const Ints axes = attributes.get_ints("axes");
  const Ints given = attributes.get_ints("pads");
  const std::size_t rank = call.input().shape.size();
  Ints pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size() && 2 * axes.size() == given.size(); ++i) {
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axes[i], rank).value_or(0));
    pads[axis] = given[i];
    pads[rank + axis] = given[axes.size() + i];
  }
  attributes.set("pads", pads);
  attributes.erase("axes");
  return absl::OkStatus();
}

/// Reductions learned only later to do nothing when there are no axes.
absl::Status DowngradeReduction(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const bool has_axes = !attributes.get_ints("axes").empty();
  const bool is_nothing = !has_axes && attributes.get_int("noop_with_empty_axes", 0) != 0;
  attributes.erase("noop_with_empty_axes");
  if (!has_axes) attributes.erase("axes");
  if (is_nothing) {
    call.node.op = "Identity";
    attributes = {};
  }
  return absl::OkStatus();
}

absl::Status DowngradeReshape(const DowngradeCall& call) {
  if (call.node.attributes.get_int("allowzero", 0) == 0) return absl::OkStatus();
  const Shape& shape = call.output().shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return absl::OkStatus();
  call.node.attributes.erase("allowzero");
  call.node.attributes.set("shape", Ints(shape));
  return absl::OkStatus();
}

absl::Status DowngradeGridSample(const DowngradeCall& call) {
  const std::string mode = call.node.attributes.get_string("mode", "linear");
  if (mode == "linear" || mode == "cubic") {
    call.node.attributes.set("mode", std::string(mode == "linear" ? "bilinear" : "bicubic"));
  }
  return absl::OkStatus();
}

absl::Status DowngradeGelu(const DowngradeCall& call) {
  Steps steps(call);
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
  Steps steps(call);
  const OnnxValue x = call.node.inputs[0];
  const OnnxValue gate = steps.Do("HardSigmoid", {x}, {{"alpha", 1.0F / 6.0F}, {"beta", 0.5F}});
  return steps.Finish("Mul", {x, gate});
}

absl::Status DowngradeMish(const DowngradeCall& call) {
  Steps steps(call);
  const OnnxValue x = call.node.inputs[0];
  const OnnxValue gate = steps.Do("Tanh", {steps.Do("Softplus", {x})});
  return steps.Finish("Mul", {x, gate});
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
  Steps steps(call);
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
  Steps steps(call);
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

struct Row {
  std::string_view op;
  int before;  ///< applies when an older opset is written
  absl::Status (*downgrade)(const DowngradeCall& call);
};

/// One row an operator, in the order of their names.
constexpr Row kRows[] = {
    {"Gelu", 20, DowngradeGelu},
    {"GridSample", 20, DowngradeGridSample},
    {"GroupNormalization", 21, DowngradeGroupNormalization},
    {"HardSwish", 14, DowngradeHardSwish},
    {"Hardmax", 13, DowngradeSoftmax},
    {"LayerNormalization", 17, DowngradeLayerNormalization},
    {"LogSoftmax", 13, DowngradeSoftmax},
    {"Mish", 18, DowngradeMish},
    {"Pad", 18, DowngradePad},
    {"ReduceL1", 18, DowngradeReduction},
    {"ReduceL2", 18, DowngradeReduction},
    {"ReduceLogSum", 18, DowngradeReduction},
    {"ReduceLogSumExp", 18, DowngradeReduction},
    {"ReduceMax", 18, DowngradeReduction},
    {"ReduceMean", 18, DowngradeReduction},
    {"ReduceMin", 18, DowngradeReduction},
    {"ReduceProd", 18, DowngradeReduction},
    {"ReduceSum", 13, DowngradeReduction},
    {"ReduceSumSquare", 18, DowngradeReduction},
    {"Reshape", 14, DowngradeReshape},
    {"Resize", 18, DowngradeResize},
    {"Softmax", 13, DowngradeSoftmax},
    {"Split", kAlways, DowngradeSplit},
};

}  // namespace

absl::Status Downgrade(OnnxNode& node, OnnxNodeWriter& writer) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& candidate) { return candidate.op == node.op; });
  if (row == std::end(kRows) || writer.opset() >= row->before) return absl::OkStatus();
  return row->downgrade({.node = node, .writer = writer});
}

}  // namespace poprt::emit
