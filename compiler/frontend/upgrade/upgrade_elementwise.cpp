#include <cstdint>
#include <limits>

#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

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

constexpr UpgradeRow kRows[] = {
    {"Clip", 11, UpgradeClip},
};

}  // namespace

std::span<const UpgradeRow> ElementwiseUpgrades() { return kRows; }

}  // namespace poprt::frontend
