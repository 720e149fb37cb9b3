#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/resize/resize_shape.hpp"

namespace poprt::ops {
namespace {

Types InferResize(const InferenceCall& call) {
  const Attributes& attributes = call.attributes;
  const std::string mode = Choice(attributes, "mode", "nearest", {"nearest", "linear", "cubic"});
  Require(mode == "nearest" || call.input(0).element != ElementType::kBool, "input 0 is ",
          call.input(0), ", mode ", mode, " needs numbers");
  Choice(attributes, "coordinate_transformation_mode", "half_pixel",
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
          "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  Choice(attributes, "nearest_mode", "round_prefer_floor",
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  const TensorType& data = call.input(0);
  return {{data.element, kernels::ResolveResize(attributes, data.shape).output}};
}

Types InferUpsample(const InferenceCall& call) {
  Choice(call.attributes, "mode", "nearest", {"nearest", "linear"});
  const TensorType& data = call.input(0);
  const Attributes scales{{"scales", call.attributes.get_floats("scales")}};
  return {{data.element, kernels::ResolveResize(scales, data.shape).output}};
}

}  // namespace

std::span<const OpDef> ResizeOps() {
  static const OpDef rows[] = {
      {.name = "Resize",
       .since = 10,
       .static_inputs = {{.index = 1, .attribute = "roi", .input_since = 11},
                         {.index = 2, .attribute = "scales", .input_since = 11},
                         {.index = 3, .attribute = "sizes", .input_since = 11}},
       .infer = InferResize},
      {.name = "Upsample",
       .since = 7,
       .types = TypeSet::kNumeric,
       .static_inputs = {{.index = 1, .attribute = "scales", .input_since = 9}},
       .infer = InferUpsample,
       .notes = "removed from ONNX in opset 10; becomes Resize"},
  };
  return rows;
}

}  // namespace poprt::ops
