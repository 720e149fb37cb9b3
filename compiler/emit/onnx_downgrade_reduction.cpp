#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

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

constexpr DowngradeRow kRows[] = {
    {"ReduceL1", 18, DowngradeReduction},     {"ReduceL2", 18, DowngradeReduction},
    {"ReduceLogSum", 18, DowngradeReduction}, {"ReduceLogSumExp", 18, DowngradeReduction},
    {"ReduceMax", 18, DowngradeReduction},    {"ReduceMean", 18, DowngradeReduction},
    {"ReduceMin", 18, DowngradeReduction},    {"ReduceProd", 18, DowngradeReduction},
    {"ReduceSum", 13, DowngradeReduction},    {"ReduceSumSquare", 18, DowngradeReduction},
};

}  // namespace

std::span<const DowngradeRow> ReductionDowngrades() { return kRows; }

}  // namespace poprt::emit
