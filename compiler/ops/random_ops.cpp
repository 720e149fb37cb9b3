#include "compiler/ops/random_ops.hpp"

#include <cmath>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

constexpr std::string_view kNotes =
    "numbers of NumPy's RandomState from 'seed', the same in every run; without one the seed is "
    "made of the node's name";

void RequireSeed(const InferenceCall& call) {
  RequireAttribute(call.attributes, "seed");
  Require(std::fabs(call.attributes.get_float("seed", 0.0F)) < 0x1p62F,
          "attribute 'seed' is too large or no number");
}

Types InferGenerator(const InferenceCall& call) {
  RequireSeed(call);
  const Ints shape = RequiredInts(call.attributes, "shape");
  Require(CheckedElementCount(shape).has_value(), "attribute 'shape' is ", shape,
          ", which is no shape");
  const ElementType element = ElementAttribute(call.attributes, "dtype", ElementType::kFloat32);
  Require(Contains(TypeSet::kFloat, element), "attribute 'dtype' names ", element,
          ", it must be a float type");
  return {{element, shape}};
}

Types InferUniform(const InferenceCall& call) {
  call.attributes.get_float("low", 0.0F);
  call.attributes.get_float("high", 1.0F);
  return InferGenerator(call);
}

Types InferNormal(const InferenceCall& call) {
  call.attributes.get_float("mean", 0.0F);
  call.attributes.get_float("scale", 1.0F);
  return InferGenerator(call);
}

Types InferMultinomial(const InferenceCall& call) {
  RequireSeed(call);
  RequireRank(call, 0, 2);
  const std::int64_t samples = call.attributes.get_int("sample_size", 1);
  Require(samples >= 0, "attribute 'sample_size' is ", samples, ", it must not be negative");
  const std::int64_t classes = call.input(0).shape[1];
  Require(classes > 0 && classes <= 0x7FFFFFFF, "input 0 is ", call.input(0),
          ", it must have 1 to 2147483647 classes");
  const ElementType element = ElementAttribute(call.attributes, "dtype", ElementType::kInt32);
  Require(element == ElementType::kInt32 || element == ElementType::kInt64,
          "attribute 'dtype' names ", element, ", allowed are int32 and int64");
  return {{element, {call.input(0).shape[0], samples}}};
}

}  // namespace

bool IsRandom(std::string_view op) {
  return op == "RandomUniform" || op == "RandomNormal" || op == "Multinomial";
}

std::span<const OpDef> RandomOps() {
  static const OpDef rows[] = {
      {.name = "Multinomial",
       .since = 7,
       .types = TypeSet::kFloat,
       .infer = InferMultinomial,
       .notes = kNotes},
      {.name = "RandomNormal", .inputs = {0, 0}, .infer = InferNormal, .notes = kNotes},
      {.name = "RandomUniform", .inputs = {0, 0}, .infer = InferUniform, .notes = kNotes},
  };
  return rows;
}

}  // namespace poprt::ops
