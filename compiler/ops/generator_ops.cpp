#include <cmath>
#include <limits>
#include <variant>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

/// How many steps of `delta` lie in [start, limit).
std::int64_t IntegerSteps(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  Require(delta != 0, "attribute 'delta' is 0");
  if (delta > 0 ? limit <= start : start <= limit) return 0;
  // Modulo 2^64 the distance between any two int64 is exact.
  const auto low = static_cast<std::uint64_t>(delta > 0 ? start : limit);
  const auto high = static_cast<std::uint64_t>(delta > 0 ? limit : start);
  const auto step = delta > 0 ? static_cast<std::uint64_t>(delta)
                              : std::uint64_t{0} - static_cast<std::uint64_t>(delta);
  const std::uint64_t count = (high - low - 1) / step + 1;
  Require(count <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
          "the range has ", count, " elements, which is too large");
  return static_cast<std::int64_t>(count);
}

std::int64_t FloatSteps(double start, double limit, double delta) {
  Require(std::isfinite(start) && std::isfinite(limit) && std::isfinite(delta) && delta != 0.0,
          "attributes 'start', 'limit', 'delta' are ", std::to_string(start), ", ",
          std::to_string(limit), ", ", std::to_string(delta),
          ", they must be finite and the last not 0");
  const double count = std::ceil((limit - start) / delta);
  Require(count < 0x1p62, "the range has ", std::to_string(count), " elements, which is too large");
  return count > 0.0 ? static_cast<std::int64_t>(count) : 0;
}

/// A bound of type float64 is kept as a tensor, which loses no digits.
double StaticFloat(const Attributes& attributes, std::string_view name) {
  if (const AttributeValue* value = attributes.find(name);
      value != nullptr && std::holds_alternative<Tensor>(*value)) {
    const Tensor& bound = std::get<Tensor>(*value);
    Require(bound.element() == ElementType::kFloat64 && bound.count() == 1, "attribute '", name,
            "' is ", bound.type(), ", it must be one float64");
    return bound.as<double>()[0];
  }
  const Floats values = attributes.get_floats(name);
  Require(values.size() == 1, "attribute '", name, "' has ", values.size(),
          " numbers, it must have one");
  return values[0];
}

Types InferRange(const InferenceCall& call) {
  const Attributes& attributes = call.attributes;
  RequireAttribute(attributes, "start");
  const bool is_float = !std::holds_alternative<Ints>(*attributes.find("start"));
  const ElementType element =
      ElementAttribute(attributes, "dtype", is_float ? ElementType::kFloat32 : ElementType::kInt64);
  const bool fits = is_float ? IsFloat(element)
                             : element == ElementType::kInt16 || element == ElementType::kInt32 ||
                                   element == ElementType::kInt64;
  Require(fits, "attribute 'dtype' names ", element,
          ", which does not fit the bounds of the range");
  const std::int64_t count =
      is_float ? FloatSteps(StaticFloat(attributes, "start"), StaticFloat(attributes, "limit"),
                            StaticFloat(attributes, "delta"))
               : IntegerSteps(StaticInt(attributes, "start"), StaticInt(attributes, "limit"),
                              StaticInt(attributes, "delta"));
  return {{element, {count}}};
}

Types InferConstantOfShape(const InferenceCall& call) {
  const Ints shape = RequiredInts(call.attributes, "shape");
  for (const std::int64_t extent : shape) {
    Require(extent >= 0, "attribute 'shape' is ", shape, ", extents must not be negative");
  }
  const AttributeValue* value = call.attributes.find("value");
  if (value == nullptr) return {{ElementType::kFloat32, shape}};
  const Tensor* tensor = std::get_if<Tensor>(value);
  Require(tensor != nullptr, "attribute 'value' is not a tensor");
  Require(CheckedElementCount(tensor->shape()) == 1, "attribute 'value' is ", tensor->type(),
          ", it must have one element");
  return {{tensor->element(), shape}};
}

Types InferEyeLike(const InferenceCall& call) {
  RequireRank(call, 0, 2);
  call.attributes.get_int("k", 0);
  return {{ElementAttribute(call.attributes, "dtype", call.input(0).element), call.input(0).shape}};
}

}  // namespace

std::span<const OpDef> GeneratorOps() {
  static const OpDef rows[] = {
      {.name = "Range",
       .since = 11,
       .type_only = true,
       .inputs = {0, 0},
       .static_inputs =
           {{.index = 0, .attribute = "start", .input_since = 11, .type_attribute = "dtype"},
            {.index = 1,
             .attribute = "limit",
             .input_since = 11,
             .type_attribute = "dtype",
             .is_extent = true},
            {.index = 2, .attribute = "delta", .input_since = 11, .type_attribute = "dtype"}},
       .infer = InferRange},
      {.name = "ConstantOfShape",
       .since = 9,
       .type_only = true,
       .inputs = {0, 0},
       .static_inputs = {{.index = 0, .attribute = "shape", .input_since = 9, .is_extent = true}},
       .infer = InferConstantOfShape},
      {.name = "EyeLike", .since = 9, .type_only = true, .infer = InferEyeLike},
  };
  return rows;
}

}  // namespace poprt::ops
