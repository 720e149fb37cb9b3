#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

constexpr Arity kOne{1, 1};
constexpr Arity kTwo{2, 2};
constexpr Arity kVariadic{1, kAnyNumber};

Types InferGelu(const InferenceCall& call) {
  Choice(call.attributes, "approximate", "none", {"none", "tanh"});
  return SameAsInput(call);
}

Types InferPredicate(const InferenceCall& call) {
  return {{ElementType::kBool, call.input(0).shape}};
}

/// Any number of broadcast operands of one element type.
Types InferBroadcast(const InferenceCall& call) {
  RequireSameElements(call);
  return {{call.input(0).element, BroadcastInputs(call)}};
}

Types InferComparison(const InferenceCall& call) {
  RequireNoNarrowElements(call);
  RequireSameElements(call);
  return {{ElementType::kBool, BroadcastInputs(call)}};
}

Types InferMod(const InferenceCall& call) {
  const bool fmod = call.attributes.get_int("fmod", 0) != 0;
  Require(fmod || !IsFloat(call.input(0).element), "input 0 is ", call.input(0),
          ", floats need attribute 'fmod' to be 1");
  return InferBroadcast(call);
}

Types InferPow(const InferenceCall& call) {
  RequireWideIntegers(call);
  Require(call.input(1).element != ElementType::kBool, "input 1 is ", call.input(1),
          ", its elements must be numbers");
  return {{call.input(0).element, BroadcastInputs(call)}};
}

Types InferBitShift(const InferenceCall& call) {
  RequireAttribute(call.attributes, "direction");
  Choice(call.attributes, "direction", "", {"LEFT", "RIGHT"});
  return InferBroadcast(call);
}

Types InferPRelu(const InferenceCall& call) {
  RequireWideIntegers(call);
  RequireSameElements(call);
  RequireBroadcastsTo(call, 1, call.input(0).shape);
  return SameAsInput(call);
}

Types InferClip(const InferenceCall& call) {
  RequireSameElements(call);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const TensorType& bound = call.inputs[i];
    Require(bound.shape.empty() || bound.shape == Shape{1}, "input ", i, " is ", bound,
            ", it must have one element");
  }
  return SameAsInput(call);
}

Types InferWhere(const InferenceCall& call) {
  const TensorType& chosen = call.input(1);
  RequireElement(call, 2, chosen.element);
  return {{chosen.element, BroadcastInputs(call)}};
}

Types InferCast(const InferenceCall& call) {
  RequireAttribute(call.attributes, "to");
  return {{ElementAttribute(call.attributes, "to", ElementType::kUndefined), call.input(0).shape}};
}

Types InferBitCast(const InferenceCall& call) {
  Types types = InferCast(call);
  const ElementType from = call.input(0).element;
  Require(PackedBits(from) == PackedBits(types[0].element), "attribute 'to' names ",
          types[0].element, " of ", PackedBits(types[0].element), " bits, input 0 is ",
          call.input(0), " of ", PackedBits(from), " bits; they must be of the same size");
  return types;
}

Types InferCastLike(const InferenceCall& call) {
  return {{call.input(1).element, call.input(0).shape}};
}

OpDef Unary(std::string_view name, int since, TypeSet types = TypeSet::kFloat) {
  return {.name = name,
          .since = since,
          .types = types,
          .inputs = kOne,
          .outputs = kOne,
          .infer = SameAsInput};
}

OpDef Predicate(std::string_view name, int since) {
  return {.name = name,
          .since = since,
          .types = TypeSet::kFloat,
          .inputs = kOne,
          .outputs = kOne,
          .infer = InferPredicate};
}

OpDef Binary(std::string_view name, int since, TypeSet types, InferRule infer = InferBroadcast) {
  return {.name = name,
          .since = since,
          .types = types,
          .inputs = kTwo,
          .outputs = kOne,
          .infer = infer};
}

OpDef Variadic(std::string_view name, TypeSet types) {
  return {.name = name,
          .since = 1,
          .types = types,
          .inputs = kVariadic,
          .outputs = kOne,
          .infer = InferBroadcast};
}

}  // namespace

std::span<const OpDef> ElementwiseOps() {
  static const OpDef rows[] = {
      Unary("Abs", 1, TypeSet::kNumeric),
      Unary("Acos", 7),
      Unary("Acosh", 9),
      Unary("Asin", 7),
      Unary("Asinh", 9),
      Unary("Atan", 7),
      Unary("Atanh", 9),
      Unary("BitwiseNot", 18, TypeSet::kInteger),
      Unary("Ceil", 1),
      Unary("Celu", 12),
      Unary("Cos", 7),
      Unary("Cosh", 9),
      Unary("Elu", 1),
      Unary("Erf", 9, TypeSet::kNumeric),
      Unary("Exp", 1),
      Unary("Floor", 1),
      {.name = "Gelu", .since = 20, .types = TypeSet::kFloat, .infer = InferGelu},
      Unary("HardSigmoid", 1),
      Unary("HardSwish", 14),
      Predicate("IsInf", 10),
      Predicate("IsNaN", 9),
      Unary("LeakyRelu", 1),
      Unary("Log", 1),
      Unary("Mish", 18),
      Unary("Neg", 1, TypeSet::kSigned),
      Unary("Not", 1, TypeSet::kBool),
      Unary("Reciprocal", 1),
      Unary("Relu", 1, TypeSet::kSigned),
      Unary("Round", 11),
      Unary("Selu", 1),
      Unary("Shrink", 9, TypeSet::kNumeric),
      Unary("Sigmoid", 1),
      Unary("Sign", 9, TypeSet::kNumeric),
      Unary("Sin", 7),
      Unary("Sinh", 9),
      Unary("Softplus", 1),
      Unary("Softsign", 1),
      Unary("Sqrt", 1),
      Unary("Swish", 24),
      Unary("Tan", 7),
      Unary("Tanh", 1),
      Unary("ThresholdedRelu", 10),

      Binary("Add", 1, TypeSet::kNumeric),
      Binary("And", 1, TypeSet::kBool),
      Binary("BitShift", 11, TypeSet::kUnsigned, InferBitShift),
      Binary("BitwiseAnd", 18, TypeSet::kInteger),
      Binary("BitwiseOr", 18, TypeSet::kInteger),
      Binary("BitwiseXor", 18, TypeSet::kInteger),
      Binary("Div", 1, TypeSet::kNumeric),
      Binary("Equal", 1, TypeSet::kAll, InferComparison),
      Binary("Greater", 1, TypeSet::kNumeric, InferComparison),
      Binary("GreaterOrEqual", 12, TypeSet::kNumeric, InferComparison),
      Binary("Less", 1, TypeSet::kNumeric, InferComparison),
      Binary("LessOrEqual", 12, TypeSet::kNumeric, InferComparison),
      Binary("Mod", 10, TypeSet::kNumeric, InferMod),
      Binary("Mul", 1, TypeSet::kNumeric),
      Binary("Or", 1, TypeSet::kBool),
      Binary("PRelu", 1, TypeSet::kNumeric, InferPRelu),
      Binary("Pow", 1, TypeSet::kSigned, InferPow),
      Binary("Sub", 1, TypeSet::kNumeric),
      Binary("Xor", 1, TypeSet::kBool),

      Variadic("Max", TypeSet::kNumeric),
      Variadic("Mean", TypeSet::kFloat),
      Variadic("Min", TypeSet::kNumeric),
      Variadic("Sum", TypeSet::kFloat),

      {.name = "Clip", .types = TypeSet::kNumeric, .inputs = {1, 3}, .infer = InferClip},
      {.name = "Where", .since = 9, .types = TypeSet::kBool, .inputs = {3, 3}, .infer = InferWhere},
      {.name = "Cast",
       .infer = InferCast,
       .notes = "no complex numbers; strings while importing only"},
      {.name = "BitCast",
       .since = 26,
       .inputs = kOne,
       .infer = InferBitCast,
       .notes = "no complex numbers; no strings"},
      {.name = "CastLike", .since = 15, .inputs = kTwo, .infer = InferCastLike, .notes = "as Cast"},
  };
  return rows;
}

}  // namespace poprt::ops
