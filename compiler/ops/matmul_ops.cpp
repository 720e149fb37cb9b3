#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

Types InferMatMul(const InferenceCall& call) {
  RequireSameElements(call);
  RequireRankAtLeast(call, 0, 1);
  RequireRankAtLeast(call, 1, 1);
  return {{call.input(0).element, MatMulShape(call.input(0), call.input(1))}};
}

Types InferGemm(const InferenceCall& call) {
  RequireSameElements(call);
  RequireRank(call, 0, 2);
  RequireRank(call, 1, 2);
  const bool trans_a = call.attributes.get_int("transA", 0) != 0;
  const bool trans_b = call.attributes.get_int("transB", 0) != 0;
  const Shape& a = call.input(0).shape;
  const Shape& b = call.input(1).shape;
  const std::int64_t inner_a = a[trans_a ? 0 : 1];
  const std::int64_t inner_b = b[trans_b ? 1 : 0];
  Require(inner_a == inner_b, "inputs ", call.input(0), " and ", call.input(1),
          " cannot be multiplied: the inner extents are ", inner_a, " and ", inner_b);
  const Shape shape{a[trans_a ? 1 : 0], b[trans_b ? 0 : 1]};
  if (call.input(2).defined()) RequireBroadcastsTo(call, 2, shape);
  return {{call.input(0).element, shape}};
}

Types InferDet(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 2);
  const TensorType& input = call.input(0);
  const std::size_t rank = input.shape.size();
  Require(input.shape[rank - 1] == input.shape[rank - 2], "input 0 is ", input,
          ", its last two extents must be equal");
  return {{input.element, Shape(input.shape.begin(), input.shape.end() - 2)}};
}

}  // namespace

Shape MatMulShape(const TensorType& left, const TensorType& right) {
  Require(!left.shape.empty() && !right.shape.empty(), "inputs ", left, " and ", right,
          " cannot be multiplied: their ranks must be at least 1");
  Shape a = left.shape;
  Shape b = right.shape;
  // A vector is a matrix with one row or column, which the result does not have.
  const bool row_added = a.size() == 1;
  const bool column_added = b.size() == 1;
  if (row_added) a.insert(a.begin(), 1);
  if (column_added) b.push_back(1);
  Require(a.back() == b[b.size() - 2], "inputs ", left, " and ", right,
          " cannot be multiplied: the inner extents are ", a.back(), " and ", b[b.size() - 2]);
  auto shape = Broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  Require(shape.has_value(), "inputs ", left, " and ", right,
          " cannot be multiplied: the batch axes do not broadcast");
  if (!row_added) shape->push_back(a[a.size() - 2]);
  if (!column_added) shape->push_back(b.back());
  return *shape;
}

std::span<const OpDef> MatMulOps() {
  static const OpDef rows[] = {
      {.name = "MatMul", .types = TypeSet::kNumeric, .inputs = {2, 2}, .infer = InferMatMul},
      {.name = "Det", .since = 11, .types = TypeSet::kFloat, .infer = InferDet},
      {.name = "Gemm", .types = TypeSet::kNumeric, .inputs = {2, 3}, .infer = InferGemm},
  };
  return rows;
}

}  // namespace poprt::ops
