#include <cstdint>

#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

absl::Status UpgradePad(const UpgradeCall& call) {
  if (!call.node.attributes.has("value")) return absl::OkStatus();
  return AttributeToInput(call, "value", 2);
}

absl::Status UpgradeScatter(const UpgradeCall& call) {
  call.node.op = "ScatterElements";
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

constexpr UpgradeRow kRows[] = {
    {"OneHot", kAlways, UpgradeOneHot},
    {"Pad", 11, UpgradePad},
    {"Scatter", kAlways, UpgradeScatter, true},
    {"Split", kAlways, UpgradeSplit},
};

}  // namespace

std::span<const UpgradeRow> MovementUpgrades() { return kRows; }

}  // namespace poprt::frontend
