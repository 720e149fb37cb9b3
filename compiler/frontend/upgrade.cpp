#include "compiler/frontend/upgrade.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "compiler/frontend/float_scalar.hpp"

namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;

/// For rules that hold in every opset.
constexpr int kAlways = std::numeric_limits<int>::max();

struct UpgradeCall {
  int opset;
  SourceNode& node;
  NodeSink& sink;

  ValueId input(std::size_t i) const { return i < node.inputs.size() ? node.inputs[i] : kAbsent; }
  const TensorType& type(std::size_t i) const {
    static const TensorType absent;
    return input(i) == kAbsent ? absent : sink.graph().type(input(i));
  }
  const Tensor* constant(std::size_t i) const { return sink.graph().ConstantOf(input(i)); }
  void set_input(std::size_t i, ValueId value) const {
    if (node.inputs.size() <= i) node.inputs.resize(i + 1, kAbsent);
    node.inputs[i] = value;
  }
  absl::Status MissingInput(std::size_t i) const {
    return absl::InvalidArgumentError("input " + std::to_string(i) + " is missing");
  }
};

Tensor FloatVector(const Floats& values) {
  return Tensor::Of<float>(ElementType::kFloat32, {static_cast<std::int64_t>(values.size())},
                           values);
}

/// A float attribute of an older form becomes input `index` of the newest.
absl::Status AttributeToInput(const UpgradeCall& call, const char* attribute, std::size_t index) {
  const float value = call.node.attributes.get_float(attribute, 0.0F);
  call.node.attributes.erase(attribute);
  std::optional<Tensor> scalar = FloatScalar(call.type(0).element, value);
  if (!scalar) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", its elements must be floats before opset 11");
  }
  call.set_input(index,
                 call.sink.AddConstant(call.node.name + "/" + attribute, *std::move(scalar)));
  return absl::OkStatus();
}

/// Before opset 13 these see their input as a matrix, all extents from `axis` on being its rows.
absl::Status UpgradeSoftmax(const UpgradeCall& call) {
  const Shape shape = call.type(0).shape;
  const std::int64_t given = call.node.attributes.get_int("axis", 1);
  const std::optional<std::int64_t> axis = NormalizeAxis(given, shape.size());
  if (!axis) {
    return absl::InvalidArgumentError("attribute 'axis' is " + std::to_string(given) +
                                      ", outside the " + std::to_string(shape.size()) +
                                      " dimensions of the input");
  }
  const auto first = shape.begin() + *axis;
  const auto is_row = [](std::int64_t extent) { return extent != 1; };
  if (std::count_if(first, shape.end(), is_row) <= 1) {
    const auto row = std::find_if(first, shape.end(), is_row);
    call.node.attributes.set(
        "axis", row == shape.end() ? *axis : static_cast<std::int64_t>(row - shape.begin()));
    return absl::OkStatus();
  }
  const Ints matrix{ElementCount(Shape(shape.begin(), first)),
                    ElementCount(Shape(first, shape.end()))};
  auto rows = call.sink.Add(call.node.name + "/flatten", "Reshape", {call.input(0)},
                            {{"shape", matrix}, {"allowzero", std::int64_t{1}}});
  if (!rows.ok()) return rows.status();
  auto result = call.sink.Add(call.node.name + "/" + call.node.op, call.node.op, {*rows},
                              {{"axis", std::int64_t{1}}});
  if (!result.ok()) return result.status();
  call.node.op = "Reshape";
  call.node.inputs = {*result};
  call.node.attributes = {{"shape", Ints(shape)}, {"allowzero", std::int64_t{1}}};
  return absl::OkStatus();
}

absl::Status UpgradeBatchNormalization(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  if (attributes.get_int("spatial", 1) != 1) {
    return absl::UnimplementedError(
        "normalising each element apart (spatial=0) is not supported; export with spatial=1");
  }
  attributes.erase("spatial");
  const auto& outputs = call.node.outputs;
  const bool more = std::any_of(outputs.begin() + (outputs.empty() ? 0 : 1), outputs.end(),
                                [&](const std::string& name) { return call.sink.IsUsed(name); });
  if (attributes.get_int("training_mode", 0) != 0 || more) {
    return absl::UnimplementedError(
        "training mode is not supported; export the model for inference");
  }
  attributes.erase("training_mode");
  call.node.outputs.resize(1);
  return absl::OkStatus();
}

absl::Status UpgradeClip(const UpgradeCall& call) {
  // The defaults are the largest finite floats: no bound.
  const float most = std::numeric_limits<float>::max();
  Attributes& attributes = call.node.attributes;
  if (attributes.get_float("min", -most) <= -most) attributes.erase("min");
  if (attributes.get_float("max", most) >= most) attributes.erase("max");
  for (std::size_t i : {1, 2}) {
    const char* name = i == 1 ? "min" : "max";
    if (!attributes.has(name)) continue;
    if (absl::Status status = AttributeToInput(call, name, i); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status UpgradePad(const UpgradeCall& call) {
  if (!call.node.attributes.has("value")) return absl::OkStatus();
  return AttributeToInput(call, "value", 2);
}

/// Upsample and the first Resize place pixels as TensorFlow once did.
absl::Status SetAsymmetric(const UpgradeCall& call) {
  SourceNode& node = call.node;
  const Tensor* scales = call.constant(2);
  if (scales == nullptr || scales->element() != ElementType::kFloat32) {
    return absl::InvalidArgumentError(
        "the scales must be a constant of float32; freeze them when exporting the model");
  }
  const auto values = scales->as<float>();
  const bool shrinks = std::any_of(values.begin(), values.end(), [](float s) { return s < 1.0F; });
  const bool grows = std::any_of(values.begin(), values.end(), [](float s) { return s > 1.0F; });
  const std::string mode = node.attributes.get_string("mode", "nearest");
  if (mode == "nearest" && shrinks && grows) {
    return absl::UnimplementedError(
        "enlarging one dimension while reducing another has no newer form; export with opset 11 or "
        "newer");
  }
  node.op = "Resize";
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
  return absl::OkStatus();
}

absl::Status UpgradeUpsample(const UpgradeCall& call) {
  SourceNode& node = call.node;
  if (node.inputs.empty()) return call.MissingInput(0);
  if (node.attributes.has("scales")) {
    const Floats scales = node.attributes.get_floats("scales");
    node.attributes.erase("scales");
    node.inputs = {call.input(0), kAbsent,
                   call.sink.AddConstant(node.name + "/scales", FloatVector(scales))};
  } else {
    node.inputs = {call.input(0), kAbsent, call.input(1)};
  }
  if (node.attributes.get_string("mode", "nearest") == "bilinear") {
    node.attributes.set("mode", std::string("linear"));
  }
  return SetAsymmetric(call);
}

absl::Status UpgradeResize(const UpgradeCall& call) {
  SourceNode& node = call.node;
  if (call.opset < 11) {
    node.inputs = {call.input(0), kAbsent, call.input(1)};
    return SetAsymmetric(call);
  }
  // Exporters write empty tensors for what is not given, and a region of interest for modes that
  // have none.
  const std::string mode =
      node.attributes.get_string("coordinate_transformation_mode", "half_pixel");
  if (mode != "tf_crop_and_resize" && node.inputs.size() > 1) node.inputs[1] = kAbsent;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (call.type(i).defined() && ElementCount(call.type(i).shape) == 0) node.inputs[i] = kAbsent;
  }
  return absl::OkStatus();
}

absl::Status UpgradeScatter(const UpgradeCall& call) {
  call.node.op = "ScatterElements";
  return absl::OkStatus();
}

absl::Status UpgradeCastLike(const UpgradeCall& call) {
  if (!call.type(1).defined()) return call.MissingInput(1);
  call.node.op = "Cast";
  call.node.attributes = {{"to", static_cast<std::int64_t>(call.type(1).element)}};
  call.node.inputs.resize(1);
  return absl::OkStatus();
}

/// `saturate` and `round_mode` mean something for 8-bit floats only.
absl::Status UpgradeCast(const UpgradeCall& call) {
  call.node.attributes.erase("saturate");
  call.node.attributes.erase("round_mode");
  return absl::OkStatus();
}

/// All true, of the mask's type: bool, before opset 10 that of the data.
std::optional<Tensor> KeepEverything(const UpgradeCall& call) {
  if (call.opset >= 10) {
    Tensor mask({ElementType::kBool, {}});
    mask.as_mutable<std::uint8_t>()[0] = 1;
    return mask;
  }
  return FloatScalar(call.type(0).element, 1.0F);
}

absl::Status UpgradeDropout(const UpgradeCall& call) {
  SourceNode& node = call.node;
  if (!call.type(0).defined()) return call.MissingInput(0);
  const Tensor* training = call.constant(2);
  const bool is_inference = call.input(2) == kAbsent ||
                            (training != nullptr && training->element() == ElementType::kBool &&
                             training->count() == 1 && training->as<std::uint8_t>()[0] == 0);
  if (!is_inference) {
    return absl::UnimplementedError(
        "training mode is not supported; export the model for inference");
  }
  if (node.outputs.size() > 1 && call.sink.IsUsed(node.outputs[1])) {
    std::optional<Tensor> one = KeepEverything(call);
    if (!one) {
      return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                        ", its elements must be floats");
    }
    const Shape shape = call.type(0).shape;
    const ValueId scalar = call.sink.AddConstant(node.name + "/one", *std::move(one));
    auto mask = call.sink.Add(node.name + "/mask", "Expand", {scalar}, {{"shape", Ints(shape)}});
    if (!mask.ok()) return mask.status();
    call.sink.Define(node.outputs[1], *mask);
  }
  node.op = "Identity";
  node.attributes = {};
  node.inputs.resize(1);
  node.outputs.resize(1);
  return absl::OkStatus();
}

/// Before opset 21 scale and bias had one element for each group instead of each channel.
absl::Status UpgradeGroupNormalization(const UpgradeCall& call) {
  SourceNode& node = call.node;
  node.attributes.erase("stash_type");
  if (call.type(0).shape.size() < 2) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", it must have at least 2 dimensions");
  }
  const std::int64_t channels = call.type(0).shape[1];
  const std::int64_t groups = node.attributes.get_int("num_groups", 0);
  if (groups < 1 || channels % groups != 0) {
    return absl::InvalidArgumentError("attribute 'num_groups' is " + std::to_string(groups) +
                                      ", it must divide the " + std::to_string(channels) +
                                      " channels");
  }
  for (std::size_t i : {1, 2}) {
    if (call.type(i) != TensorType{call.type(i).element, {groups}}) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is " +
                                        ToString(call.type(i)) + ", it must have the shape [" +
                                        std::to_string(groups) + "]");
    }
    const std::string stem = node.name + (i == 1 ? "/scale" : "/bias");
    auto value =
        call.sink.Add(stem + "_column", "Reshape", {call.input(i)}, {{"shape", Ints{groups, 1}}});
    if (!value.ok()) return value.status();
    value = call.sink.Add(stem + "_expanded", "Expand", {*value},
                          {{"shape", Ints{groups, channels / groups}}});
    if (!value.ok()) return value.status();
    value = call.sink.Add(stem, "Reshape", {*value}, {{"shape", Ints{channels}}});
    if (!value.ok()) return value.status();
    node.inputs[i] = *value;
  }
  return absl::OkStatus();
}

/// The depth may be a float, but it counts.
absl::Status UpgradeOneHot(const UpgradeCall& call) {
  const Tensor* depth = call.constant(1);
  if (depth == nullptr || !IsFloat(depth->element())) return absl::OkStatus();
  auto integer = call.sink.Add(call.node.name + "/depth", "Cast", {call.input(1)},
                               {{"to", static_cast<std::int64_t>(ElementType::kInt64)}});
  if (!integer.ok()) return integer.status();
  call.node.inputs[1] = *integer;
  return absl::OkStatus();
}

/// The number of outputs says it all, and Split checks it against this attribute.
absl::Status UpgradeSplit(const UpgradeCall& call) {
  const std::int64_t parts = call.node.attributes.get_int(
      "num_outputs", static_cast<std::int64_t>(call.node.outputs.size()));
  if (parts != static_cast<std::int64_t>(call.node.outputs.size())) {
    return absl::InvalidArgumentError("attribute 'num_outputs' is " + std::to_string(parts) +
                                      ", but the node has " +
                                      std::to_string(call.node.outputs.size()) + " outputs");
  }
  call.node.attributes.erase("num_outputs");
  return absl::OkStatus();
}

/// An empty tensor of axes means the same as none.
absl::Status DropEmptyAxes(const UpgradeCall& call) {
  if (call.type(1).defined() && ElementCount(call.type(1).shape) == 0) call.node.inputs.resize(1);
  if (call.node.attributes.has("axes") && call.node.attributes.get_ints("axes").empty()) {
    call.node.attributes.erase("axes");
  }
  return absl::OkStatus();
}

struct Row {
  std::string_view op;
  int before;  ///< applies to nodes of older opsets
  absl::Status (*upgrade)(const UpgradeCall& call);
};

/// One row an operator, in the order of their names.
constexpr Row kRows[] = {
    {"BatchNormalization", kAlways, UpgradeBatchNormalization},
    {"Cast", kAlways, UpgradeCast},
    {"CastLike", kAlways, UpgradeCastLike},
    {"Clip", 11, UpgradeClip},
    {"Dropout", kAlways, UpgradeDropout},
    {"GroupNormalization", 21, UpgradeGroupNormalization},
    {"Hardmax", 13, UpgradeSoftmax},
    {"LogSoftmax", 13, UpgradeSoftmax},
    {"OneHot", kAlways, UpgradeOneHot},
    {"Pad", 11, UpgradePad},
    {"ReduceL1", kAlways, DropEmptyAxes},
    {"ReduceL2", kAlways, DropEmptyAxes},
    {"ReduceLogSum", kAlways, DropEmptyAxes},
    {"ReduceLogSumExp", kAlways, DropEmptyAxes},
    {"ReduceMax", kAlways, DropEmptyAxes},
    {"ReduceMean", kAlways, DropEmptyAxes},
    {"ReduceMin", kAlways, DropEmptyAxes},
    {"ReduceProd", kAlways, DropEmptyAxes},
    {"ReduceSum", kAlways, DropEmptyAxes},
    {"ReduceSumSquare", kAlways, DropEmptyAxes},
    {"Resize", kAlways, UpgradeResize},
    {"Scatter", kAlways, UpgradeScatter},
    {"Softmax", 13, UpgradeSoftmax},
    {"Split", kAlways, UpgradeSplit},
    {"Upsample", kAlways, UpgradeUpsample},
};

}  // namespace

absl::Status Upgrade(int opset, SourceNode& node, NodeSink& sink) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& candidate) { return candidate.op == node.op; });
  if (row == std::end(kRows) || opset >= row->before) return absl::OkStatus();
  return row->upgrade({.opset = opset, .node = node, .sink = sink});
}

bool IsReplaced(std::string_view op) {
  static constexpr std::string_view replaced[] = {"CastLike", "Dropout", "Scatter", "Upsample"};
  return std::find(std::begin(replaced), std::end(replaced), op) != std::end(replaced);
}

}  // namespace poprt::frontend
