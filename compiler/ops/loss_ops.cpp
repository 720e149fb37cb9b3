#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

Types InferNegativeLogLikelihood(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  RequireRankAtLeast(call, 0, 2);
  RequireIndices(call, 1);
  Shape points = data.shape;
  points.erase(points.begin() + 1);
  RequireShape(call, 1, points);
  if (call.input(2).defined()) {
    RequireElement(call, 2, data.element);
    RequireShape(call, 2, {data.shape[1]});
  }
  call.attributes.get_int("ignore_index", 0);
  const std::string reduction =
      Choice(call.attributes, "reduction", "mean", {"none", "sum", "mean"});
  return {{data.element, reduction == "none" ? points : Shape()}};
}

}  // namespace

std::span<const OpDef> LossOps() {
  static const OpDef rows[] = {
      {.name = "NegativeLogLikelihoodLoss",
       .since = 12,
       .types = TypeSet::kFloat,
       .inputs = {2, 3},
       .infer = InferNegativeLogLikelihood,
       .notes = "labels that name no class give NaN"},
  };
  return rows;
}

}  // namespace poprt::ops
