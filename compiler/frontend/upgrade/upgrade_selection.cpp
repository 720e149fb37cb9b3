#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// Input 2 may be known only at run time; where it is known now, the result's bound follows from
/// it.
absl::Status BoundSelection(const UpgradeCall& call) {
  call.node.attributes.erase("most_boxes");
  const Tensor* most = call.constant(2);
  if (most != nullptr && most->element() == ElementType::kInt64 && most->count() == 1) {
    call.node.attributes.set("most_boxes", most->as<std::int64_t>()[0]);
  }
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {{"NonMaxSuppression", kAlways, BoundSelection}};

}  // namespace

std::span<const UpgradeRow> SelectionUpgrades() { return kRows; }

}  // namespace poprt::frontend
