#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/einsum/einsum_equation.hpp"

namespace poprt::ops {
namespace {

Types InferEinsum(const InferenceCall& call) {
  RequireAttribute(call.attributes, "equation");
  RequireSameElements(call);
  const std::string equation = call.attributes.get_string("equation", "");
  return {{call.input(0).element, kernels::ResolveEinsum(equation, call.inputs).OutputShape()}};
}

}  // namespace

std::span<const OpDef> EinsumOps() {
  static const OpDef rows[] = {
      {.name = "Einsum",
       .since = 12,
       .types = TypeSet::kNumeric,
       .inputs = {1, kAnyNumber},
       .infer = InferEinsum,
       .notes = "becomes MatMul, Mul, ReduceSum and Transpose where these can express it"},
  };
  return rows;
}

}  // namespace poprt::ops
