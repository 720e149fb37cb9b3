#include <cstdint>
#include <variant>

#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

/// The axis was an attribute of one number.
absl::Status DowngradeDft(const DowngradeCall& call) {
  const AttributeValue* axis = call.node.attributes.find("axis");
  if (axis == nullptr || std::holds_alternative<std::int64_t>(*axis)) return absl::OkStatus();
  call.node.attributes.set("axis", call.node.attributes.get_ints("axis").at(0));
  return absl::OkStatus();
}

constexpr DowngradeRow kRows[] = {
    {"DFT", 20, DowngradeDft},
};

}  // namespace

std::span<const DowngradeRow> SignalDowngrades() { return kRows; }

}  // namespace poprt::emit
