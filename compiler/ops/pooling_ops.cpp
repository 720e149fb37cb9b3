#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::ops {
namespace {

TensorType PooledType(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 3);
  const TensorType& data = call.input(0);
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  const auto window = kernels::ResolveWindow(call.attributes, spatial,
                                             RequiredInts(call.attributes, "kernel_shape"));
  const bool ceil_mode = call.attributes.get_int("ceil_mode", 0) != 0;
  const Shape extents = kernels::WindowOutputExtents(window, spatial, ceil_mode);
  Shape shape{data.shape[0], data.shape[1]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return {data.element, shape};
}

Types InferMaxPool(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  Require(IsFloat(data.element) || ElementSize(data.element) == 1, "input 0 is ", data,
          ", its integers must have 8 bits");
  const TensorType values = PooledType(call);
  return {values, {ElementType::kInt64, values.shape}};
}

Types InferAveragePool(const InferenceCall& call) { return {PooledType(call)}; }

void RequireNorm(const InferenceCall& call) {
  const std::int64_t p = call.attributes.get_int("p", 2);
  Require(p > 0, "attribute 'p' is ", p, ", it must be positive");
}

Types InferLpPool(const InferenceCall& call) {
  RequireNorm(call);
  return {PooledType(call)};
}

Types InferGlobalPool(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 3);
  Shape shape(call.input(0).shape.size(), 1);
  shape[0] = call.input(0).shape[0];
  shape[1] = call.input(0).shape[1];
  return {{call.input(0).element, shape}};
}

Types InferGlobalLpPool(const InferenceCall& call) {
  RequireNorm(call);
  return InferGlobalPool(call);
}

}  // namespace

std::span<const OpDef> PoolingOps() {
  static const OpDef rows[] = {
      {.name = "MaxPool", .types = TypeSet::kNumeric, .outputs = {1, 2}, .infer = InferMaxPool},
      {.name = "AveragePool",
       .types = TypeSet::kFloat,
       .infer = InferAveragePool,
       .notes = "what ceil_mode lets hang over the padding never counts"},
      {.name = "LpPool", .types = TypeSet::kFloat, .infer = InferLpPool},
      {.name = "GlobalAveragePool", .types = TypeSet::kFloat, .infer = InferGlobalPool},
      {.name = "GlobalMaxPool", .types = TypeSet::kFloat, .infer = InferGlobalPool},
      {.name = "GlobalLpPool", .types = TypeSet::kFloat, .infer = InferGlobalLpPool},
  };
  return rows;
}

}  // namespace poprt::ops
