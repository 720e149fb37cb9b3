#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

/// The rows are here for the documentation; ir::FindRegionProblem checks such nodes.
Types InferFromRegions(const InferenceCall& call) {
  Fail({Text(call.op), " has the types that its bodies give it"});
}

}  // namespace

std::span<const OpDef> ControlFlowOps() {
  static const OpDef rows[] = {
      {.name = "If",
       .types = TypeSet::kBool,
       .outputs = {1, kAnyNumber},
       .infer = InferFromRegions,
       .notes =
           "a condition that is known when compiling chooses a branch for good; otherwise both "
           "branches must give tensors of the same types"},
      {.name = "Loop",
       .types = TypeSet::kInteger,
       .inputs = {2, kAnyNumber},
       .outputs = {1, kAnyNumber},
       .infer = InferFromRegions,
       .notes = "unrolled if what it carries changes its type or is no tensor: the number of "
                "iterations must then be known when compiling, as for stacked outputs, which "
                "counters in the condition tell, too"},
      {.name = "Scan",
       .since = 8,
       .inputs = {1, kAnyNumber},
       .outputs = {1, kAnyNumber},
       .infer = InferFromRegions,
       .notes = "becomes Loop"},
  };
  return rows;
}

}  // namespace poprt::ops
