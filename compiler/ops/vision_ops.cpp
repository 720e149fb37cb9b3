#include <string>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/vision/vision_shape.hpp"

namespace poprt::ops {
namespace {

Shape Spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Shape WithSpatial(std::int64_t batch, std::int64_t channels, const Shape& spatial) {
  Shape shape{batch, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

Types InferGridSample(const InferenceCall& call) {
  const std::string mode =
      Choice(call.attributes, "mode", "linear", {"linear", "nearest", "cubic"});
  Choice(call.attributes, "padding_mode", "zeros", {"zeros", "border", "reflection"});
  const TensorType& data = call.input(0);
  const TensorType& grid = call.input(1);
  Require(mode == "nearest" || IsFloat(data.element) || IsInteger(data.element), "input 0 is ",
          data, ", mode ", mode, " needs numbers");
  RequireRankAtLeast(call, 0, 3);
  RequireFloat(call, 1);
  RequireRank(call, 1, data.shape.size());
  const auto spatial = static_cast<std::int64_t>(data.shape.size()) - 2;
  Require(grid.shape[0] == data.shape[0] && grid.shape.back() == spatial, "input 1 is ", grid,
          ", input 0 is ", data, ": it must hold points of ", spatial, " coordinates for ",
          data.shape[0], " images");
  const Shape extents(grid.shape.begin() + 1, grid.shape.end() - 1);
  return {{data.element, WithSpatial(data.shape[0], data.shape[1], extents)}};
}

std::int64_t PositiveInt(const InferenceCall& call, std::string_view name) {
  const std::int64_t value = call.attributes.get_int(name, 1);
  Require(value > 0, "attribute '", name, "' is ", value, ", it must be positive");
  return value;
}

Types InferRoiAlign(const InferenceCall& call) {
  Choice(call.attributes, "mode", "avg", {"avg", "max"});
  Choice(call.attributes, "coordinate_transformation_mode", "half_pixel",
         {"half_pixel", "output_half_pixel"});
  RequireRank(call, 0, 4);
  RequireRank(call, 2, 1);
  RequireElement(call, 2, ElementType::kInt64);
  const std::int64_t regions = call.input(2).shape[0];
  RequireElement(call, 1, call.input(0).element);
  RequireShape(call, 1, {regions, 4});
  const std::int64_t ratio = call.attributes.get_int("sampling_ratio", 0);
  Require(ratio >= 0, "attribute 'sampling_ratio' is ", ratio, ", it must not be negative");
  return {{call.input(0).element,
           {regions, call.input(0).shape[1], PositiveInt(call, "output_height"),
            PositiveInt(call, "output_width")}}};
}

Types InferMaxRoiPool(const InferenceCall& call) {
  RequireRank(call, 0, 4);
  RequireRank(call, 1, 2);
  RequireElement(call, 1, call.input(0).element);
  const std::int64_t regions = call.input(1).shape[0];
  RequireShape(call, 1, {regions, 5});
  const Ints pooled = RequiredInts(call.attributes, "pooled_shape");
  Require(pooled.size() == 2 && pooled[0] > 0 && pooled[1] > 0, "attribute 'pooled_shape' is ",
          pooled, ", it must be two positive numbers");
  return {{call.input(0).element, {regions, call.input(0).shape[1], pooled[0], pooled[1]}}};
}

Types InferCol2Im(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  return {{data.element, kernels::ResolveBlocks(call.attributes, data.shape).output}};
}

Types InferMaxUnpool(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  RequireElement(call, 1, ElementType::kInt64);
  RequireShape(call, 1, data.shape);
  return {{data.element, kernels::ResolveUnpool(call.attributes, data.shape).output}};
}

Types InferDeformConv(const InferenceCall& call) {
  RequireSameElements(call);
  const TensorType& data = call.input(0);
  const TensorType& weights = call.input(1);
  RequireRankAtLeast(call, 0, 3);
  RequireRank(call, 1, data.shape.size());
  const Shape kernel = Spatial(weights.shape);
  const Ints given = call.attributes.get_ints("kernel_shape", kernel);
  Require(given.empty() || given == kernel, "attribute 'kernel_shape' is ", given,
          ", the weights are ", weights);
  const std::int64_t group = PositiveInt(call, "group");
  const std::int64_t offset_group = PositiveInt(call, "offset_group");
  const std::int64_t channels = data.shape[1];
  Require(channels % group == 0 && channels / group == weights.shape[1] &&
              weights.shape[0] % group == 0,
          "input 0 is ", data, " in ", group, " groups, the weights are ", weights);
  Require(channels % offset_group == 0, "attribute 'offset_group' is ", offset_group,
          ", it must divide the ", channels, " channels");
  const Shape spatial = Spatial(data.shape);
  const auto window = kernels::ResolveWindow(call.attributes, spatial, kernel);
  const Shape extents = kernels::WindowOutputExtents(window, spatial, false);
  std::int64_t rows = offset_group;
  for (const std::int64_t extent : kernel) rows = CheckedMultiply(rows, extent);
  const auto rank = static_cast<std::int64_t>(kernel.size());
  RequireShape(call, 2, WithSpatial(data.shape[0], CheckedMultiply(rows, rank), extents));
  if (call.input(3).defined()) RequireShape(call, 3, {weights.shape[0]});
  if (call.input(4).defined()) {
    RequireShape(call, 4, WithSpatial(data.shape[0], rows, extents));
  }
  return {{data.element, WithSpatial(data.shape[0], weights.shape[0], extents)}};
}

}  // namespace

std::span<const OpDef> VisionOps() {
  static const OpDef rows[] = {
      {.name = "GridSample",
       .since = 16,
       .inputs = {2, 2},
       .infer = InferGridSample,
       .notes = "any number of spatial axes in all modes; cubic taps are padded one by one, as in "
                "PyTorch and ONNX Runtime"},
      {.name = "RoiAlign",
       .since = 10,
       .types = TypeSet::kFloat,
       .inputs = {3, 3},
       .infer = InferRoiAlign,
       .notes = "mode max takes the largest weighted pixel, as ONNX's conformance data has it"},
      {.name = "MaxRoiPool",
       .since = 1,
       .types = TypeSet::kFloat,
       .inputs = {2, 2},
       .infer = InferMaxRoiPool},
      {.name = "Col2Im",
       .since = 18,
       .types = TypeSet::kNumeric,
       .static_inputs = {{.index = 1, .attribute = "image_shape"},
                         {.index = 2, .attribute = "block_shape"}},
       .infer = InferCol2Im},
      {.name = "MaxUnpool",
       .since = 9,
       .types = TypeSet::kNumeric,
       .inputs = {2, 2},
       .static_inputs = {{.index = 2, .attribute = "output_shape"}},
       .infer = InferMaxUnpool},
      {.name = "DeformConv",
       .since = 19,
       .types = TypeSet::kFloat,
       .inputs = {3, 5},
       .infer = InferDeformConv},
  };
  return rows;
}

}  // namespace poprt::ops
