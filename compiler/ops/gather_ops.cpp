#include <algorithm>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

Types InferGather(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Shape& indices = call.input(1).shape;
  const std::size_t axis = AxisAttribute(call.attributes, "axis", 0, data.shape.size());
  RequireIndices(call, 1);
  Shape shape = data.shape;
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(at, indices.begin(), indices.end());
  return {{data.element, shape}};
}

/// Indices of GatherElements and ScatterElements: the rank of the data, within it but for `axis`.
void RequireElementIndices(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const std::size_t axis = AxisAttribute(call.attributes, "axis", 0, data.shape.size());
  RequireIndices(call, 1);
  RequireRank(call, 1, data.shape.size());
  for (std::size_t i = 0; i < data.shape.size(); ++i) {
    Require(i == axis || call.input(1).shape[i] <= data.shape[i], "input 1 is ", call.input(1),
            ", its axis ", i, " is longer than that of input 0, ", data);
  }
}

Types InferGatherElements(const InferenceCall& call) {
  RequireElementIndices(call);
  return {{call.input(0).element, call.input(1).shape}};
}

/// How many axes of the data the last axis of the indices addresses; `batch` axes come before.
std::size_t AddressedAxes(const InferenceCall& call, std::size_t batch) {
  RequireRankAtLeast(call, 0, 1);
  RequireRankAtLeast(call, 1, 1);
  RequireIndices(call, 1);
  const auto most = static_cast<std::int64_t>(call.input(0).shape.size() - batch);
  const std::int64_t addressed = call.input(1).shape.back();
  Require(addressed >= 1 && addressed <= most, "input 1 is ", call.input(1),
          ", its last extent must be 1 to ", most);
  return static_cast<std::size_t>(addressed);
}

/// All extents of the indices but the last, then those of the data from `first` on.
Shape PointShape(const InferenceCall& call, std::size_t first) {
  const Shape& data = call.input(0).shape;
  Shape shape(call.input(1).shape.begin(), call.input(1).shape.end() - 1);
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(first), data.end());
  return shape;
}

Types InferGatherNd(const InferenceCall& call) {
  const Shape& data = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  const std::int64_t given = call.attributes.get_int("batch_dims", 0);
  const auto most = static_cast<std::int64_t>(std::min(data.size(), indices.size())) - 1;
  Require(given >= 0 && given <= most, "attribute 'batch_dims' is ", given, ", inputs are ",
          call.input(0), " and ", call.input(1));
  const auto batch = static_cast<std::size_t>(given);
  Require(std::equal(data.begin(), data.begin() + given, indices.begin()), "inputs ", call.input(0),
          " and ", call.input(1), " differ in the first ", batch,
          " axes, which attribute 'batch_dims' makes the batch");
  return {{call.input(0).element, PointShape(call, batch + AddressedAxes(call, batch))}};
}

void RequireReduction(const InferenceCall& call) {
  const std::string reduction =
      Choice(call.attributes, "reduction", "none", {"none", "add", "mul", "max", "min"});
  const ElementType element = call.input(0).element;
  Require(reduction == "none" || IsFloat(element) || IsInteger(element) ||
              element == ElementType::kBool,
          "input 0 is ", call.input(0), ", reduction ", reduction,
          " needs numbers of 8 bits or more or bool");
}

Types InferScatterElements(const InferenceCall& call) {
  RequireReduction(call);
  RequireElementIndices(call);
  RequireElement(call, 2, call.input(0).element);
  RequireShape(call, 2, call.input(1).shape);
  return SameAsInput(call);
}

Types InferScatterNd(const InferenceCall& call) {
  RequireReduction(call);
  RequireElement(call, 2, call.input(0).element);
  RequireShape(call, 2, PointShape(call, AddressedAxes(call, 0)));
  return SameAsInput(call);
}

// What cannot be refused once a program runs.
constexpr std::string_view kNearest = "indices outside the data take the nearest element";
constexpr std::string_view kLeftOut = "updates outside the data are left out";

}  // namespace

std::span<const OpDef> GatherOps() {
  static const OpDef rows[] = {
      {.name = "Gather", .inputs = {2, 2}, .infer = InferGather, .notes = kNearest},
      {.name = "GatherElements",
       .since = 11,
       .inputs = {2, 2},
       .infer = InferGatherElements,
       .notes = kNearest},
      {.name = "GatherND",
       .since = 11,
       .inputs = {2, 2},
       .infer = InferGatherNd,
       .notes = kNearest},
      {.name = "ScatterElements",
       .since = 11,
       .inputs = {3, 3},
       .infer = InferScatterElements,
       .notes = kLeftOut},
      {.name = "Scatter",
       .since = 9,
       .inputs = {3, 3},
       .infer = InferScatterElements,
       .notes = "removed from ONNX in opset 11; becomes ScatterElements"},
      {.name = "ScatterND",
       .since = 11,
       .inputs = {3, 3},
       .infer = InferScatterNd,
       .notes = kLeftOut},
  };
  return rows;
}

}  // namespace poprt::ops
