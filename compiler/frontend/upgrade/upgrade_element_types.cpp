#include <cstdint>
#include <optional>
#include <string>

#include "compiler/frontend/proto/float_scalar.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// The numbers of an integer type of 4 or 2 bits.
struct Bounds {
  float lowest;
  float highest;
};
Bounds BoundsOf(ElementType element) {
  const float count = PackedBits(element) == 4 ? 16 : 4;
  const bool is_signed = element == ElementType::kInt4 || element == ElementType::kInt2;
  const float lowest = is_signed ? -count / 2 : 0;
  return {lowest, lowest + count - 1};
}

/// ONNX leaves open what becomes of floats beyond the range of a narrow integer. Its reference
/// saturated them up to opset 23 and keeps the low bits since, as Cast does here.
absl::Status Saturate(const UpgradeCall& call, ElementType to) {
  const Bounds bounds = BoundsOf(to);
  const std::optional<Tensor> lowest = FloatScalar(call.type(0).element, bounds.lowest);
  const std::optional<Tensor> highest = FloatScalar(call.type(0).element, bounds.highest);
  if (!lowest || !highest) return absl::OkStatus();
  const std::string& name = call.node.name;
  auto clipped = call.sink.Add(name + "/saturate", "Clip",
                               {call.input(0), call.sink.AddConstant(name + "/lowest", *lowest),
                                call.sink.AddConstant(name + "/highest", *highest)},
                               {});
  if (!clipped.ok()) return clipped.status();
  call.node.inputs[0] = *clipped;
  return absl::OkStatus();
}

/// `saturate` and `round_mode` mean something for floats of 8 and 4 bits only.
absl::Status UpgradeCast(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const auto to = static_cast<ElementType>(attributes.get_int("to", 0) & 0xFF);
  if (!IsNarrowFloat(to)) attributes.erase("saturate");
  if (to != ElementType::kFloat8E8M0) attributes.erase("round_mode");
  return call.opset < 24 && IsNarrowInteger(to) ? Saturate(call, to) : absl::OkStatus();
}

absl::Status UpgradeCastLike(const UpgradeCall& call) {
  if (!call.type(1).defined()) return call.MissingInput(1);
  call.node.op = "Cast";
  call.node.attributes.set("to", static_cast<std::int64_t>(call.type(1).element));
  call.node.inputs.resize(1);
  return UpgradeCast(call);
}

/// Zero says of each of these what its absence says.
absl::Status UpgradeLinear(const UpgradeCall& call) {
  for (const char* name : {"block_size", "output_dtype", "precision"}) {
    if (call.node.attributes.get_int(name, 0) == 0) call.node.attributes.erase(name);
  }
  return absl::OkStatus();
}

/// What Range of float16 and bfloat16 is computed in; here it is always float64.
absl::Status UpgradeRange(const UpgradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const std::int64_t stash = attributes.get_int("stash_type", 1);
  attributes.erase("stash_type");
  const ElementType element = call.type(0).element;
  if (element != ElementType::kFloat16 && element != ElementType::kBFloat16) {
    return absl::OkStatus();
  }
  if (stash == static_cast<std::int64_t>(ElementType::kFloat32) ||
      stash == static_cast<std::int64_t>(ElementType::kFloat64)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("attribute 'stash_type' is " + std::to_string(stash) +
                                    ", allowed are 1 (float32) and 11 (float64)");
}

constexpr UpgradeRow kRows[] = {
    {"Cast", kAlways, UpgradeCast},
    {"CastLike", kAlways, UpgradeCastLike, true},
    {"DequantizeLinear", kAlways, UpgradeLinear},
    {"QuantizeLinear", kAlways, UpgradeLinear},
    {"Range", kAlways, UpgradeRange},
};

}  // namespace

std::span<const UpgradeRow> ElementTypeUpgrades() { return kRows; }

}  // namespace poprt::frontend
