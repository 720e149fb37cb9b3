#include "compiler/ops/inference.hpp"

#include <algorithm>
#include <variant>

namespace poprt::ops {
namespace {

/// Name of a number of ONNX's TensorProto.DataType that is no ElementType.
std::string_view OtherOnnxType(std::int64_t number) {
  switch (number) {
    case 0:
      return "undefined";
    case 8:
      return "string";
    case 14:
      return "complex64";
    case 15:
      return "complex128";
    default:
      return "no type of ONNX";
  }
}

}  // namespace

void Fail(std::initializer_list<std::string> parts) {
  std::string message;
  for (const std::string& part : parts) message += part;
  throw InferenceError(message);
}

std::int64_t CheckedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) Fail({"an extent is larger than an int64 can hold"});
  return sum;
}

std::int64_t CheckedMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) Fail({"an extent is larger than an int64 can hold"});
  return product;
}

void RequireAttribute(const Attributes& attributes, std::string_view name) {
  Require(attributes.has(name), "attribute '", name, "' is missing");
}

std::int64_t RequiredInt(const Attributes& attributes, std::string_view name) {
  RequireAttribute(attributes, name);
  return attributes.get_int(name, 0);
}

Ints RequiredInts(const Attributes& attributes, std::string_view name) {
  RequireAttribute(attributes, name);
  return attributes.get_ints(name);
}

std::int64_t StaticInt(const Attributes& attributes, std::string_view name) {
  RequireAttribute(attributes, name);
  if (const auto* value = std::get_if<std::int64_t>(attributes.find(name))) return *value;
  const Ints values = attributes.get_ints(name);
  Require(values.size() == 1, "attribute '", name, "' has ", values.size(),
          " numbers, it must have one");
  return values[0];
}

std::int64_t StaticInt(const Attributes& attributes, std::string_view name,
                       std::int64_t otherwise) {
  return attributes.has(name) ? StaticInt(attributes, name) : otherwise;
}

std::string Choice(const Attributes& attributes, std::string_view name, std::string_view otherwise,
                   std::initializer_list<std::string_view> allowed) {
  std::string value = attributes.get_string(name, otherwise);
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  std::string list;
  for (const std::string_view choice : allowed) {
    list += (list.empty() ? "" : ", ") + std::string(choice);
  }
  Fail({"attribute '", Text(name), "' is \"", value, "\", allowed are ", list});
}

ElementType ElementAttribute(const Attributes& attributes, std::string_view name,
                             ElementType otherwise) {
  const std::int64_t number = attributes.get_int(name, static_cast<std::int64_t>(otherwise));
  const bool known = number > 0 && number < 256 && IsElementType(static_cast<std::uint8_t>(number));
  Require(known, "attribute '", name, "' is ", number, " (", OtherOnnxType(number),
          "), which is not a supported element type");
  return static_cast<ElementType>(number);
}

std::size_t NormalizedAxis(std::int64_t value, std::size_t rank, std::string_view name) {
  const auto axis = NormalizeAxis(value, rank);
  Require(axis.has_value(), "attribute '", name, "' names axis ", value, " of a tensor of rank ",
          rank);
  return static_cast<std::size_t>(*axis);
}

std::size_t AxisAttribute(const Attributes& attributes, std::string_view name,
                          std::int64_t otherwise, std::size_t rank) {
  return NormalizedAxis(attributes.get_int(name, otherwise), rank, name);
}

std::vector<bool> NamedAxes(const Ints& axes, std::size_t rank, std::string_view name) {
  std::vector<bool> named(rank);
  for (const std::int64_t value : axes) {
    const std::size_t axis = NormalizedAxis(value, rank, name);
    Require(!named[axis], "attribute '", name, "' names axis ", axis, " twice");
    named[axis] = true;
  }
  return named;
}

void RequireRank(const InferenceCall& call, std::size_t input, std::size_t rank) {
  const TensorType& type = call.input(input);
  Require(type.shape.size() == rank, "input ", input, " is ", type, ", its rank must be ", rank);
}

void RequireRankAtLeast(const InferenceCall& call, std::size_t input, std::size_t rank) {
  const TensorType& type = call.input(input);
  Require(type.shape.size() >= rank, "input ", input, " is ", type, ", its rank must be at least ",
          rank);
}

void RequireElement(const InferenceCall& call, std::size_t input, ElementType wanted) {
  const TensorType& type = call.input(input);
  Require(type.element == wanted, "input ", input, " is ", type, ", its elements must be ", wanted);
}

void RequireShape(const InferenceCall& call, std::size_t input, const Shape& wanted) {
  const TensorType& type = call.input(input);
  Require(type.shape == wanted, "input ", input, " is ", type, ", its shape must be ", wanted);
}

void RequireIndices(const InferenceCall& call, std::size_t input) {
  const TensorType& type = call.input(input);
  Require(type.element == ElementType::kInt32 || type.element == ElementType::kInt64, "input ",
          input, " is ", type, ", its elements must be int32 or int64");
}

void RequireFloat(const InferenceCall& call, std::size_t input) {
  const TensorType& type = call.input(input);
  Require(IsFloat(type.element), "input ", input, " is ", type, ", its elements must be floats");
}

void RequireWideIntegers(const InferenceCall& call) {
  const TensorType& type = call.input(0);
  Require(IsFloat(type.element) || ElementSize(type.element) >= 4, "input 0 is ", type,
          ", its integers must have 32 or 64 bits");
}

void RequireNoNarrowElements(const InferenceCall& call) {
  const TensorType& type = call.input(0);
  Require(!IsNarrowFloat(type.element) && !IsNarrowInteger(type.element), "input 0 is ", type,
          ", whose elements can only be stored and converted: add a Cast");
}

void RequireSameElements(const InferenceCall& call) {
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.inputs[i].defined()) RequireElement(call, i, call.inputs[0].element);
  }
}

void RequireBroadcastsTo(const InferenceCall& call, std::size_t input, const Shape& target) {
  const TensorType& type = call.input(input);
  Require(Broadcast(type.shape, target) == target, "input ", input, " is ", type,
          ", which does not broadcast to ", target);
}

Shape BroadcastInputs(const InferenceCall& call) {
  Shape shape = call.input(0).shape;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const auto common = Broadcast(shape, call.inputs[i].shape);
    Require(common.has_value(), "input ", i, " is ", call.inputs[i],
            ", which does not broadcast with ", shape);
    shape = *common;
  }
  return shape;
}

Types SameAsInput(const InferenceCall& call) { return {call.input(0)}; }

}  // namespace poprt::ops
