#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

/// The kernel checks that the tables fit together.
Types InferTreeEnsemble(const InferenceCall& call) {
  RequireRank(call, 0, 2);
  const std::int64_t targets = RequiredInt(call.attributes, "n_targets");
  Require(targets > 0, "attribute 'n_targets' is ", targets, ", it must be positive");
  for (const char* name : {"leaf_targetids", "leaf_weights", "nodes_falseleafs",
                           "nodes_falsenodeids", "nodes_featureids", "nodes_modes", "nodes_splits",
                           "nodes_trueleafs", "nodes_truenodeids", "tree_roots"}) {
    RequiredInts(call.attributes, name);
  }
  return {{call.input(0).element, {call.input(0).shape[0], targets}}};
}

}  // namespace

std::span<const OpDef> TreeOps() {
  static const OpDef rows[] = {
      {.name = "TreeEnsemble",
       .since = 5,
       .types = TypeSet::kFloat,
       .infer = InferTreeEnsemble,
       .notes = "no node may be in two trees",
       .domain = kMlDomain},
  };
  return rows;
}

}  // namespace poprt::ops
