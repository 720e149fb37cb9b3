#include <algorithm>
#include <numeric>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

/// The requested shape with its zeros replaced by the input's extents; may still hold one -1.
Shape CopyExtents(const Ints& wanted, const Shape& input, bool allow_zero) {
  Shape shape = wanted;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    Require(shape[i] >= -1, "attribute 'shape' is ", wanted, ", extents must be -1 or more");
    if (shape[i] != 0 || allow_zero) continue;
    Require(i < input.size(), "attribute 'shape' is ", wanted, ", its 0 at position ", i,
            " has no extent to copy from ", input);
    shape[i] = input[i];
  }
  return shape;
}

Types InferReshape(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Ints wanted = RequiredInts(call.attributes, "shape");
  const bool allow_zero = call.attributes.get_int("allowzero", 0) != 0;
  Shape shape = CopyExtents(wanted, data.shape, allow_zero);
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    Require(std::find(open + 1, shape.end(), -1) == shape.end(), "attribute 'shape' is ", wanted,
            ", it may hold one -1 only");
    *open = 1;
  }
  const std::int64_t count = *CheckedElementCount(data.shape);
  const auto known = CheckedElementCount(shape);
  if (open != shape.end() && known && *known > 0 && count % *known == 0) {
    *open = count / *known;
  } else {
    Require(open == shape.end() && known == count, "cannot reshape ", data, " to ", wanted);
  }
  return {{data.element, shape}};
}

Types InferFlatten(const InferenceCall& call) {
  const Shape& shape = call.input(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = call.attributes.get_int("axis", 1);
  Require(axis >= -rank && axis <= rank, "attribute 'axis' is ", axis, ", allowed are ", -rank,
          " to ", rank);
  const std::int64_t split = axis < 0 ? axis + rank : axis;
  Shape result{1, 1};
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t& extent = result[i < split ? 0 : 1];
    extent = CheckedMultiply(extent, shape[static_cast<std::size_t>(i)]);
  }
  return {{call.input(0).element, result}};
}

Types InferSqueeze(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Ints axes = call.attributes.get_ints("axes");
  const std::vector<bool> named = NamedAxes(axes, data.shape.size(), "axes");
  TensorType result{data.element, {}};
  for (std::size_t i = 0; i < data.shape.size(); ++i) {
    Require(!named[i] || data.shape[i] == 1, "input 0 is ", data, ", axis ", i,
            " cannot be squeezed as its extent is not 1");
    const bool goes = axes.empty() ? data.shape[i] == 1 : named[i];
    if (!goes) result.shape.push_back(data.shape[i]);
  }
  return {result};
}

Types InferUnsqueeze(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Ints axes = RequiredInts(call.attributes, "axes");
  const std::vector<bool> added = NamedAxes(axes, data.shape.size() + axes.size(), "axes");
  TensorType result{data.element, {}};
  auto next = data.shape.begin();
  for (const bool is_new : added) result.shape.push_back(is_new ? 1 : *next++);
  return {result};
}

Types InferTranspose(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const std::size_t rank = data.shape.size();
  Ints reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const Ints perm = call.attributes.get_ints("perm", reversed);
  Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  std::reverse(sorted.begin(), sorted.end());
  Require(sorted == reversed, "attribute 'perm' is ", perm, ", which does not order the ", rank,
          " axes of input 0");
  TensorType result{data.element, {}};
  for (const std::int64_t axis : perm) {
    result.shape.push_back(data.shape[static_cast<std::size_t>(axis)]);
  }
  return {result};
}

Types InferExpand(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Ints shape = RequiredInts(call.attributes, "shape");
  Require(std::none_of(shape.begin(), shape.end(), [](std::int64_t e) { return e < 0; }),
          "attribute 'shape' is ", shape, ", extents must not be negative");
  const auto result = Broadcast(data.shape, shape);
  Require(result.has_value(), "input 0 is ", data, ", which does not broadcast with ", shape);
  return {{data.element, *result}};
}

Types InferTile(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const Ints repeats = RequiredInts(call.attributes, "repeats");
  Require(repeats.size() == data.shape.size(), "attribute 'repeats' has ", repeats.size(),
          " numbers, input 0 has rank ", data.shape.size());
  TensorType result = data;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    Require(repeats[i] >= 0, "attribute 'repeats' is ", repeats, ", it must not be negative");
    result.shape[i] = CheckedMultiply(result.shape[i], repeats[i]);
  }
  return {result};
}

Types InferShape(const InferenceCall& call) {
  const auto rank = static_cast<std::int64_t>(call.input(0).shape.size());
  const auto position = [&](std::string_view name, std::int64_t otherwise) {
    const std::int64_t value = call.attributes.get_int(name, otherwise);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const std::int64_t count = position("end", rank) - position("start", 0);
  return {{ElementType::kInt64, {std::max<std::int64_t>(count, 0)}}};
}

Types InferSize(const InferenceCall& /*call*/) { return {{ElementType::kInt64, {}}}; }

}  // namespace

std::span<const OpDef> ShapeOps() {
  static const OpDef rows[] = {
      {.name = "Identity", .infer = SameAsInput},
      {.name = "Reshape",
       .static_inputs = {{.index = 1, .attribute = "shape", .input_since = 5, .is_extent = true}},
       .infer = InferReshape},
      {.name = "Flatten", .infer = InferFlatten},
      {.name = "Squeeze",
       .static_inputs = {{.index = 1, .attribute = "axes", .input_since = 13}},
       .infer = InferSqueeze},
      {.name = "Unsqueeze",
       .static_inputs = {{.index = 1, .attribute = "axes", .input_since = 13}},
       .infer = InferUnsqueeze},
      {.name = "Transpose", .infer = InferTranspose},
      {.name = "Expand",
       .since = 8,
       .static_inputs = {{.index = 1, .attribute = "shape", .input_since = 8, .is_extent = true}},
       .infer = InferExpand},
      {.name = "Tile",
       .static_inputs = {{.index = 1, .attribute = "repeats", .input_since = 6}},
       .infer = InferTile},
      {.name = "Shape", .type_only = true, .infer = InferShape},
      {.name = "Size", .type_only = true, .infer = InferSize},
  };
  return rows;
}

}  // namespace poprt::ops
