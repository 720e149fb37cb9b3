#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::ops {
namespace {

Shape Spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

/// What all convolutions have in common; returns the number of groups.
std::int64_t CheckOperands(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 3);
  RequireRank(call, 1, call.input(0).shape.size());
  const Shape kernel = Spatial(call.input(1).shape);
  const Ints given = call.attributes.get_ints("kernel_shape", kernel);
  Require(given.empty() || given == kernel, "attribute 'kernel_shape' is ", given,
          ", the weights are ", call.input(1));
  const std::int64_t group = call.attributes.get_int("group", 1);
  Require(group > 0, "attribute 'group' is ", group, ", it must be positive");
  return group;
}

TensorType Result(const InferenceCall& call, std::int64_t channels, const Shape& extents) {
  if (call.input(2).defined()) RequireShape(call, 2, {channels});
  Shape shape{call.input(0).shape[0], channels};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return {call.input(0).element, shape};
}

TensorType ConvResult(const InferenceCall& call) {
  const std::int64_t group = CheckOperands(call);
  const Shape& data = call.input(0).shape;
  const Shape& weights = call.input(1).shape;
  Require(data[1] % group == 0 && data[1] / group == weights[1], "input 0 is ", call.input(0),
          " in ", group, " groups, the weights are ", call.input(1), " for ", weights[1],
          " channels in each");
  Require(weights[0] % group == 0, "the weights are ", call.input(1), ", their ", weights[0],
          " output channels must be a multiple of attribute 'group', which is ", group);
  const Shape spatial = Spatial(data);
  const auto window = kernels::ResolveWindow(call.attributes, spatial, Spatial(weights));
  return Result(call, weights[0], kernels::WindowOutputExtents(window, spatial, false));
}

Types InferConv(const InferenceCall& call) {
  RequireSameElements(call);
  return {ConvResult(call)};
}

Types InferConvTranspose(const InferenceCall& call) {
  RequireSameElements(call);
  const std::int64_t group = CheckOperands(call);
  const Shape& data = call.input(0).shape;
  const Shape& weights = call.input(1).shape;
  Require(data[1] == weights[0] && weights[0] % group == 0, "input 0 is ", call.input(0), " in ",
          group, " groups, the weights are ", call.input(1), " for ", weights[0], " channels");
  const auto transposed =
      kernels::ResolveTransposedWindow(call.attributes, Spatial(data), Spatial(weights));
  return {Result(call, CheckedMultiply(weights[1], group), transposed.output)};
}

}  // namespace

Shape ConvShape(const Attributes& attributes, const TensorType& data, const TensorType& weights) {
  return ConvResult({.op = "Conv", .inputs = {data, weights}, .attributes = attributes}).shape;
}

std::span<const OpDef> ConvolutionOps() {
  static const OpDef rows[] = {
      {.name = "Conv", .types = TypeSet::kFloat, .inputs = {2, 3}, .infer = InferConv},
      {.name = "ConvTranspose",
       .types = TypeSet::kFloat,
       .inputs = {2, 3},
       .infer = InferConvTranspose},
  };
  return rows;
}

}  // namespace poprt::ops
