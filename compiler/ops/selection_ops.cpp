#include <algorithm>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

/// Operators that select elements, so that the extents of their results depend on the data.
namespace poprt::ops {
namespace {

using Open = std::vector<OpenOutput>;

const TensorType kCount{ElementType::kInt64, {}};

Types InferNonZero(const InferenceCall& call) {
  const Shape& shape = call.input(0).shape;
  // A scalar counts as a vector of one element.
  const auto rank = static_cast<std::int64_t>(std::max<std::size_t>(shape.size(), 1));
  return {{ElementType::kInt64, {rank, ElementCount(shape)}}, kCount};
}

Open OpenNonZero(const InferenceCall& /*call*/) { return {{.output = 0, .axis = 1}}; }

/// The axis along which slices are selected: that of the result if there is no attribute.
std::size_t SelectedAxis(const InferenceCall& call) {
  if (!call.attributes.has("axis")) return 0;
  return AxisAttribute(call.attributes, "axis", 0, call.input(0).shape.size());
}

Types InferCompress(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  RequireElement(call, 1, ElementType::kBool);
  RequireRank(call, 1, 1);
  const std::int64_t length = call.input(1).shape[0];
  Shape shape = data.shape;
  if (!call.attributes.has("axis")) shape = {ElementCount(data.shape)};
  const std::size_t axis = SelectedAxis(call);
  shape[axis] = std::min(shape[axis], length);
  return {{data.element, shape}, kCount};
}

Open OpenCompress(const InferenceCall& call) { return {{.output = 0, .axis = SelectedAxis(call)}}; }

Types InferUnique(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const std::int64_t sorted = call.attributes.get_int("sorted", 1);
  Require(sorted == 0 || sorted == 1, "attribute 'sorted' is ", sorted, ", allowed are 0 and 1");
  Shape shape = data.shape;
  if (!call.attributes.has("axis")) shape = {ElementCount(data.shape)};
  const TensorType positions{ElementType::kInt64, {shape[SelectedAxis(call)]}};
  return {{data.element, shape}, positions, positions, positions, kCount};
}

Open OpenUnique(const InferenceCall& call) {
  return {{.output = 0, .axis = SelectedAxis(call)},
          {.output = 1, .axis = 0},
          {.output = 3, .axis = 0}};
}

void RequireScalar(const InferenceCall& call, std::size_t input, ElementType element) {
  const TensorType& type = call.input(input);
  if (!type.defined()) return;
  RequireElement(call, input, element);
  Require(ElementCount(type.shape) == 1, "input ", input, " is ", type,
          ", it must have one element");
}

Types InferNonMaxSuppression(const InferenceCall& call) {
  const TensorType& boxes = call.input(0);
  const TensorType& scores = call.input(1);
  RequireElement(call, 0, ElementType::kFloat32);
  RequireElement(call, 1, ElementType::kFloat32);
  RequireRank(call, 0, 3);
  RequireRank(call, 1, 3);
  Require(boxes.shape[2] == 4, "input 0 is ", boxes, ", its last extent must be 4");
  Require(boxes.shape[0] == scores.shape[0] && boxes.shape[1] == scores.shape[2], "input 1 is ",
          scores, ", which has not the batches and boxes of input 0, ", boxes);
  RequireScalar(call, 2, ElementType::kInt64);
  RequireScalar(call, 3, ElementType::kFloat32);
  RequireScalar(call, 4, ElementType::kFloat32);
  const std::int64_t by_center = call.attributes.get_int("center_point_box", 0);
  Require(by_center == 0 || by_center == 1, "attribute 'center_point_box' is ", by_center,
          ", allowed are 0 and 1");
  // Without input 2 nothing is selected.
  std::int64_t most = 0;
  if (call.input(2).defined()) {
    most = call.attributes.get_int("most_boxes", boxes.shape[1]);
    most = std::clamp<std::int64_t>(most, 0, boxes.shape[1]);
  }
  const std::int64_t problems = CheckedMultiply(scores.shape[0], scores.shape[1]);
  return {{ElementType::kInt64, {CheckedMultiply(problems, most), 3}}, kCount};
}

Open OpenNonMaxSuppression(const InferenceCall& /*call*/) { return {{.output = 0, .axis = 0}}; }

}  // namespace

std::span<const OpDef> SelectionOps() {
  static const OpDef rows[] = {
      {.name = "NonZero",
       .since = 9,
       .outputs = {2, 2},
       .infer = InferNonZero,
       .open = OpenNonZero},
      {.name = "Compress",
       .since = 9,
       .inputs = {2, 2},
       .outputs = {2, 2},
       .infer = InferCompress,
       .open = OpenCompress},
      {.name = "Unique", .since = 11, .outputs = {5, 5}, .infer = InferUnique, .open = OpenUnique},
      {.name = "NonMaxSuppression",
       .since = 10,
       .types = TypeSet::kFloat,
       .inputs = {2, 5},
       .outputs = {2, 2},
       .infer = InferNonMaxSuppression,
       .open = OpenNonMaxSuppression},
  };
  return rows;
}

}  // namespace poprt::ops
