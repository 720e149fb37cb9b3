#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// An empty tensor of axes means the same as none.
absl::Status DropEmptyAxes(const UpgradeCall& call) {
  if (call.type(1).defined() && ElementCount(call.type(1).shape) == 0) call.node.inputs.resize(1);
  if (call.node.attributes.has("axes") && call.node.attributes.get_ints("axes").empty()) {
    call.node.attributes.erase("axes");
  }
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {
    {"ReduceL1", kAlways, DropEmptyAxes},     {"ReduceL2", kAlways, DropEmptyAxes},
    {"ReduceLogSum", kAlways, DropEmptyAxes}, {"ReduceLogSumExp", kAlways, DropEmptyAxes},
    {"ReduceMax", kAlways, DropEmptyAxes},    {"ReduceMean", kAlways, DropEmptyAxes},
    {"ReduceMin", kAlways, DropEmptyAxes},    {"ReduceProd", kAlways, DropEmptyAxes},
    {"ReduceSum", kAlways, DropEmptyAxes},    {"ReduceSumSquare", kAlways, DropEmptyAxes},
};

}  // namespace

std::span<const UpgradeRow> ReductionUpgrades() { return kRows; }

}  // namespace poprt::frontend
