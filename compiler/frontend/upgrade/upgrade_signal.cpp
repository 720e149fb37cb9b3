#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// Until opset 20 the axis was 1 unless given, then the last but one.
absl::Status NameDftAxis(const UpgradeCall& call) {
  if (call.input(2) == ir::kAbsent && !call.node.attributes.has("axis")) {
    call.node.attributes.set("axis", std::int64_t{call.opset < 20 ? 1 : -2});
  }
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {{"DFT", kAlways, NameDftAxis}};

}  // namespace

std::span<const UpgradeRow> SignalUpgrades() { return kRows; }

}  // namespace poprt::frontend
