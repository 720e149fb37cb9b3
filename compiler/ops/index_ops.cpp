#include <cmath>
#include <variant>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

Types InferTopK(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const std::size_t axis = AxisAttribute(call.attributes, "axis", -1, data.shape.size());
  const std::int64_t k = StaticInt(call.attributes, "k");
  Require(k >= 0 && k <= data.shape[axis], "attribute 'k' is ", k, ", allowed are 0 to ",
          data.shape[axis], ", the extent of axis ", axis);
  Shape shape = data.shape;
  shape[axis] = k;
  return {{data.element, shape}, {ElementType::kInt64, shape}};
}

/// ONNX lets the depth be a tensor of any numeric type.
std::int64_t Depth(const Attributes& attributes) {
  RequireAttribute(attributes, "depth");
  std::int64_t depth = 0;
  if (std::holds_alternative<Floats>(*attributes.find("depth"))) {
    const Floats values = attributes.get_floats("depth");
    Require(values.size() == 1, "attribute 'depth' has ", values.size(),
            " numbers, it must have one");
    const bool fits = values[0] >= 0.0F && values[0] < 0x1p62F;
    Require(fits, "attribute 'depth' is ", std::to_string(values[0]), ", which is no extent");
    depth = static_cast<std::int64_t>(values[0]);
  } else {
    depth = StaticInt(attributes, "depth");
  }
  Require(depth > 0, "attribute 'depth' is ", depth, ", it must be positive");
  return depth;
}

Types InferOneHot(const InferenceCall& call) {
  Shape shape = call.input(0).shape;
  const std::size_t axis = AxisAttribute(call.attributes, "axis", -1, shape.size() + 1);
  RequireShape(call, 1, {2});
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Depth(call.attributes));
  return {{call.input(1).element, shape}};
}

Types InferTrilu(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 2);
  call.attributes.get_int("upper", 1);
  StaticInt(call.attributes, "k", 0);
  return SameAsInput(call);
}

}  // namespace

std::span<const OpDef> IndexOps() {
  static const OpDef rows[] = {
      {.name = "TopK",
       .types = TypeSet::kNumeric,
       .outputs = {1, 2},
       .static_inputs = {{.index = 1, .attribute = "k", .input_since = 10, .is_extent = true}},
       .infer = InferTopK},
      {.name = "OneHot",
       .since = 9,
       .types = TypeSet::kNumeric,
       .inputs = {2, 2},
       .static_inputs = {{.index = 1, .attribute = "depth", .input_since = 9}},
       .infer = InferOneHot},
      {.name = "Trilu",
       .since = 14,
       .static_inputs = {{.index = 1, .attribute = "k", .input_since = 14}},
       .infer = InferTrilu},
  };
  return rows;
}

}  // namespace poprt::ops
