#include "compiler/emit/onnx_downgrade.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/frontend/proto/float_scalar.hpp"
#include "runtime/kernels/kernel.hpp"

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

/// The bound follows from input 2.
absl::Status DropBound(const DowngradeCall& call) {
  call.node.attributes.erase("most_boxes");
  return absl::OkStatus();
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
  const int opset = call.writer.opset();
  if (attributes.get_string("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn" &&
      opset != 11 && opset != 12) {
    return absl::UnimplementedError("only opsets 11 and 12 have tf_half_pixel_for_nn");
  }
  if (opset >= 18) return absl::OkStatus();
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
      const Floats given_roi = attributes.get_floats("roi");
      Floats roi(2 * rank, 0.0F);
      std::fill(roi.begin() + static_cast<std::ptrdiff_t>(rank), roi.end(), 1.0F);
      for (std::size_t i = 0; i < axes.size() && given_roi.size() == 2 * axes.size(); ++i) {
        const auto axis = static_cast<std::size_t>(NormalizeAxis(axes[i], rank).value_or(0));
        roi[axis] = given_roi[i];
        roi[rank + axis] = given_roi[axes.size() + i];
      }
      attributes.set("roi", roi);
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
  if (call.input().shape.size() != 4) {
    return absl::UnimplementedError("GridSample of other than 4 dimensions needs opset 20");
  }
  const std::string mode = call.node.attributes.get_string("mode", "linear");
  if (mode == "linear" || mode == "cubic") {
    call.node.attributes.set("mode", std::string(mode == "linear" ? "bilinear" : "bicubic"));
  }
  return absl::OkStatus();
}

/// Before opset 16 regions were not moved by half a pixel.
absl::Status DowngradeRoiAlign(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const std::string mode = "coordinate_transformation_mode";
  if (attributes.get_string(mode, "half_pixel") == "half_pixel") {
    return absl::UnimplementedError("RoiAlign with half_pixel needs opset 16");
  }
  attributes.erase(mode);
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

absl::Status DowngradeRecurrent(const DowngradeCall& call) {
  if (call.node.attributes.get_int("layout", 0) != 0) {
    return absl::UnimplementedError("layout 1, the batch first, needs opset 14");
  }
  call.node.attributes.erase("layout");
  return absl::OkStatus();
}

/// The axis was an attribute of one number.
absl::Status DowngradeDft(const DowngradeCall& call) {
  const AttributeValue* axis = call.node.attributes.find("axis");
  if (axis == nullptr || std::holds_alternative<std::int64_t>(*axis)) return absl::OkStatus();
  call.node.attributes.set("axis", call.node.attributes.get_ints("axis").at(0));
  return absl::OkStatus();
}

absl::Status NeedsOpset(const std::string& what, int opset) {
  return absl::UnimplementedError(what + " needs opset " + std::to_string(opset));
}

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

/// In the graph the lists are inputs, which no ONNX operator has: compare with every key.
absl::Status DowngradeLabelEncoder(const DowngradeCall& call) {
  Steps steps(call);
  const OnnxValue x = call.node.inputs[0];
  const OnnxValue keys = call.node.inputs[1];
  const Shape& shape = x.type.shape;
  Shape column = shape;
  column.push_back(1);
  Shape compared = shape;
  compared.push_back(keys.type.shape[0]);
  const auto axis = static_cast<std::int64_t>(shape.size());
  const OnnxValue each = steps.Do("Reshape", {x}, {x.type.element, column},
                                  {{"shape", Ints(column)}, {"allowzero", std::int64_t{0}}});
  const OnnxValue equal = steps.Do("Equal", {each, keys}, {ElementType::kBool, compared}, {});
  const OnnxValue mask = steps.Do("Cast", {equal}, {ElementType::kInt32, compared},
                                  {{"to", static_cast<std::int64_t>(ElementType::kInt32)}});
  const OnnxValue found = steps.Do("ArgMax", {mask}, {ElementType::kInt64, shape},
                                   {{"axis", axis}, {"keepdims", std::int64_t{0}}});
  const OnnxValue any = steps.Do("ReduceMax", {mask}, {ElementType::kInt32, shape},
                                 {{"axes", Ints{axis}}, {"keepdims", std::int64_t{0}}});
  const OnnxValue is_known = steps.Do("Cast", {any}, {ElementType::kBool, shape},
                                      {{"to", static_cast<std::int64_t>(ElementType::kBool)}});
  const OnnxValue value = steps.Do("Gather", {call.node.inputs[2], found});
  return steps.Finish("Where", {is_known, value, call.node.inputs[3]});
}

/// In the graph real numbers are the bits of doubles; ONNX has tensors.
absl::Status DowngradeTreeEnsemble(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const Ints counts = attributes.get_ints("leaf_counts");
  if (std::any_of(counts.begin(), counts.end(), [](auto count) { return count != 1; })) {
    return absl::UnimplementedError("leaves that add to several targets have no form in ONNX");
  }
  attributes.erase("leaf_counts");
  const ElementType element = call.input().element;
  for (const char* name : {"leaf_weights", "membership_values", "nodes_splits"}) {
    const Ints bits = attributes.get_ints(name);
    attributes.erase(name);
    if (bits.empty()) continue;
    std::vector<double> numbers;
    for (const std::int64_t number : bits) numbers.push_back(std::bit_cast<double>(number));
    const Shape shape{static_cast<std::int64_t>(numbers.size())};
    const Tensor tensor({ElementType::kFloat64, shape}, numbers.data());
    attributes.set(name, kernels::RunOnce("Cast", {tensor}, {{element, shape}},
                                          {{"to", static_cast<std::int64_t>(element)}})
                             .front());
  }
  const Ints modes = attributes.get_ints("nodes_modes");
  Tensor tensor({ElementType::kUint8, {static_cast<std::int64_t>(modes.size())}});
  std::transform(modes.begin(), modes.end(), tensor.as_mutable<std::uint8_t>().begin(),
                 [](std::int64_t mode) { return static_cast<std::uint8_t>(mode); });
  attributes.set("nodes_modes", tensor);
  return absl::OkStatus();
}

struct Row {
  std::string_view op;
  int before;  ///< applies when an older opset is written
  absl::Status (*downgrade)(const DowngradeCall& call);
};

/// One row an operator, in the order of their names.
constexpr Row kRows[] = {
    {"Cast", 24, DowngradeCast},
    {"DequantizeLinear", 23, DowngradeDequantizeLinear},
    {"DFT", 20, DowngradeDft},
    {"GRU", 14, DowngradeRecurrent},
    {"Gelu", 20, DowngradeGelu},
    {"GridSample", 20, DowngradeGridSample},
    {"GroupNormalization", 21, DowngradeGroupNormalization},
    {"HardSwish", 14, DowngradeHardSwish},
    {"Hardmax", 13, DowngradeSoftmax},
    {"LabelEncoder", kAlways, DowngradeLabelEncoder},
    {"LayerNormalization", 17, DowngradeLayerNormalization},
    {"LSTM", 14, DowngradeRecurrent},
    {"LogSoftmax", 13, DowngradeSoftmax},
    {"Mish", 18, DowngradeMish},
    {"NonMaxSuppression", kAlways, DropBound},
    {"Pad", 18, DowngradePad},
    {"RNN", 14, DowngradeRecurrent},
    {"QLinearMatMul", 21, DowngradeQLinearMatMul},
    {"QuantizeLinear", 23, DowngradeQuantizeLinear},
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
    {"Resize", kAlways, DowngradeResize},
    {"RoiAlign", 16, DowngradeRoiAlign},
    {"Softmax", 13, DowngradeSoftmax},
    {"Split", kAlways, DowngradeSplit},
    {"TreeEnsemble", kAlways, DowngradeTreeEnsemble},
};

}  // namespace

absl::Status Downgrade(OnnxNode& node, OnnxNodeWriter& writer) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& candidate) { return candidate.op == node.op; });
  if (row == std::end(kRows) || writer.opset() >= row->before) return absl::OkStatus();
  return row->downgrade({.node = node, .writer = writer});
}

}  // namespace poprt::emit
