#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

/// Forms of opsets 1 to 6 that later opsets changed.
namespace poprt::frontend {
namespace {

using ir::ValueId;

/// Extents that place `shape` at `axis` of `rank` dimensions, followed by ones.
absl::StatusOr<Shape> PlacedAt(std::int64_t axis, const Shape& shape, std::size_t rank) {
  const std::optional<std::int64_t> first = NormalizeAxis(axis, rank);
  const std::size_t behind = first ? static_cast<std::size_t>(*first) + shape.size() : rank + 1;
  if (behind > rank) {
    return absl::InvalidArgumentError(
        "attribute 'axis' is " + std::to_string(axis) + ", which does not place input 1, " +
        ToString(shape) + ", within the " + std::to_string(rank) + " dimensions of input 0");
  }
  Shape placed = shape;
  placed.insert(placed.end(), rank - behind, 1);
  return placed;
}

/// Before opset 7 only the second operand was broadcast, on request, and from any axis on.
absl::Status UpgradeBinary(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const bool is_broadcast = attributes.get_int("broadcast", 0) != 0;
  const AttributeValue* given = attributes.find("axis");
  const std::optional<std::int64_t> axis =
      given == nullptr ? std::nullopt : std::optional(attributes.get_int("axis", 0));
  attributes.erase("broadcast");
  attributes.erase("axis");
  for (std::size_t i : {0, 1}) {
    if (!call.type(i).defined()) return call.MissingInput(i);
  }
  const Shape first = call.type(0).shape;
  const Shape second = call.type(1).shape;
  if (!is_broadcast) {
    if (first == second) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "inputs of the shapes " + ToString(first) + " and " + ToString(second) +
        " must be equal before opset 7 unless attribute 'broadcast' is 1");
  }
  Shape placed = second;
  if (axis && ElementCount(second) != 1) {
    absl::StatusOr<Shape> at = PlacedAt(*axis, second, first.size());
    if (!at.ok()) return at.status();
    placed = *std::move(at);
  }
  if (ElementCount(placed) == 1 && placed.size() > first.size()) placed.clear();
  if (Broadcast(first, placed) != first) {
    return absl::InvalidArgumentError("input 1, " + ToString(second) +
                                      ", cannot be broadcast to input 0, " + ToString(first));
  }
  UpgradeSteps steps(call);
  return steps.Finish(call.node.op, {call.input(0), steps.Reshape(call.input(1), placed)},
                      attributes);
}

absl::Status UpgradeGemm(const UpgradeCall& call) {
  call.node.attributes.erase("broadcast");
  return absl::OkStatus();
}

/// A slope for each channel was a vector.
absl::Status UpgradePRelu(const UpgradeCall& call) {
  const Shape data = call.type(0).shape;
  const Shape slope = call.type(1).shape;
  if (slope.size() != 1 || slope[0] == 1 || data.size() < 2) return absl::OkStatus();
  absl::StatusOr<Shape> placed = PlacedAt(1, slope, data.size());
  if (!placed.ok()) return placed.status();
  UpgradeSteps steps(call);
  return steps.Finish("PRelu", {call.input(0), steps.Reshape(call.input(1), *placed)});
}

/// Types were named instead of numbered.
absl::Status UpgradeCast(const UpgradeCall& call) {
  std::string name = call.node.attributes.get_string("to", "");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::optional<ElementType> element = ParseElementType(name);
  if (!element) {
    return absl::InvalidArgumentError("attribute 'to' is '" +
                                      call.node.attributes.get_string("to", "") +
                                      "', which is no element type");
  }
  call.node.attributes.set("to", static_cast<std::int64_t>(*element));
  return absl::OkStatus();
}

absl::Status UpgradeConcat(const UpgradeCall& call) {
  if (!call.node.attributes.has("axis")) call.node.attributes.set("axis", std::int64_t{1});
  return absl::OkStatus();
}

/// The constants had fewer digits.
absl::Status UpgradeSelu(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  attributes.set("alpha", attributes.get_float("alpha", 1.6732F));
  attributes.set("gamma", attributes.get_float("gamma", 1.0507F));
  return absl::OkStatus();
}

absl::Status UpgradePad(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  if (!attributes.has("paddings")) return absl::OkStatus();
  attributes.set("pads", attributes.get_ints("paddings"));
  attributes.erase("paddings");
  return absl::OkStatus();
}

/// The exponent was a float.
absl::Status UpgradeLpPool(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const AttributeValue* p = attributes.find("p");
  if (p == nullptr || !std::holds_alternative<float>(*p)) return absl::OkStatus();
  const float value = std::get<float>(*p);
  if (std::nearbyint(value) != value || value < 1.0F || value > 1e6F) {
    return absl::UnimplementedError("attribute 'p' is " + std::to_string(value) +
                                    ", only whole numbers are supported");
  }
  attributes.set("p", static_cast<std::int64_t>(value));
  return absl::OkStatus();
}

/// Y was computed on request only; now it is when somebody reads it.
absl::Status UpgradeRecurrent(const UpgradeCall& call) {
  call.node.attributes.erase("output_sequence");
  return absl::OkStatus();
}

/// An integer that must be known.
absl::StatusOr<std::int64_t> ScalarOf(const UpgradeCall& call, std::size_t i) {
  if (!call.type(i).defined()) return call.MissingInput(i);
  const Tensor* tensor = call.constant(i);
  if (tensor != nullptr && tensor->count() == 1) {
    if (tensor->element() == ElementType::kInt64) return tensor->as<std::int64_t>()[0];
    if (tensor->element() == ElementType::kInt32) return tensor->as<std::int32_t>()[0];
    if (tensor->element() == ElementType::kFloat32) {
      const float value = tensor->as<float>()[0];
      if (std::fabs(value) < 1e9F) return static_cast<std::int64_t>(value);
    }
  }
  return absl::InvalidArgumentError("input " + std::to_string(i) + " is " + ToString(call.type(i)) +
                                    ", it must be a constant with one whole number");
}

/// Repeated one axis.
absl::Status UpgradeTile(const UpgradeCall& call) {
  if (call.node.inputs.size() < 3) return absl::OkStatus();
  const absl::StatusOr<std::int64_t> tiles = ScalarOf(call, 1);
  if (!tiles.ok()) return tiles.status();
  const absl::StatusOr<std::int64_t> given = ScalarOf(call, 2);
  if (!given.ok()) return given.status();
  Ints repeats(call.type(0).shape.size(), 1);
  const std::optional<std::int64_t> axis = NormalizeAxis(*given, repeats.size());
  if (!axis) {
    return absl::InvalidArgumentError("input 2 is " + std::to_string(*given) + ", outside the " +
                                      std::to_string(repeats.size()) + " dimensions of the input");
  }
  repeats[static_cast<std::size_t>(*axis)] = *tiles;
  return UpgradeSteps(call).Finish("Tile", {call.input(0)}, {{"repeats", repeats}});
}

/// Enlarged images only, by a factor for each direction.
absl::Status UpgradeUpsample(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  if (!attributes.has("width_scale") && !attributes.has("height_scale")) return absl::OkStatus();
  if (call.type(0).shape.size() != 4) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", it must have 4 dimensions before opset 7");
  }
  attributes.set("scales", Floats{1.0F, 1.0F, attributes.get_float("height_scale", 1.0F),
                                  attributes.get_float("width_scale", 1.0F)});
  attributes.erase("width_scale");
  attributes.erase("height_scale");
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {
    {"Add", 7, UpgradeBinary},
    {"And", 7, UpgradeBinary},
    {"Cast", 6, UpgradeCast},
    {"Concat", 4, UpgradeConcat},
    {"Div", 7, UpgradeBinary},
    {"Equal", 7, UpgradeBinary},
    {"GRU", 7, UpgradeRecurrent},
    {"Gemm", 7, UpgradeGemm},
    {"GlobalLpPool", 2, UpgradeLpPool},
    {"Greater", 7, UpgradeBinary},
    {"LSTM", 7, UpgradeRecurrent},
    {"Less", 7, UpgradeBinary},
    {"LpPool", 2, UpgradeLpPool},
    {"Mul", 7, UpgradeBinary},
    {"Or", 7, UpgradeBinary},
    {"PRelu", 7, UpgradePRelu},
    {"Pad", 2, UpgradePad},
    {"Pow", 7, UpgradeBinary},
    {"RNN", 7, UpgradeRecurrent},
    {"Selu", 6, UpgradeSelu},
    {"Sub", 7, UpgradeBinary},
    {"Tile", 6, UpgradeTile},
    {"Upsample", 7, UpgradeUpsample},
    {"Xor", 7, UpgradeBinary},
};

}  // namespace

std::span<const UpgradeRow> LegacyUpgrades() { return kRows; }

}  // namespace poprt::frontend
