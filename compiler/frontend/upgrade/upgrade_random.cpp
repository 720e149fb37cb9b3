#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/frontend/proto/float_scalar.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

/// Operators that draw numbers: all of them get a seed, and their numbers from RandomUniform,
/// RandomNormal or Multinomial.
namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;

/// Integers up to here are exact as float.
constexpr std::uint32_t kSeedMask = 0xFFFFFFU;

/// FNV-1a.
std::uint32_t HashOf(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// The seed the node gives, or one made of its name.
float SeedOf(const UpgradeCall& call) {
  const AttributeValue* given = call.node.attributes.find("seed");
  if (given != nullptr) {
    const auto* integer = std::get_if<std::int64_t>(given);
    if (integer == nullptr) return call.node.attributes.get_float("seed", 0.0F);
    return static_cast<float>(static_cast<std::uint64_t>(*integer) & kSeedMask);
  }
  const std::uint32_t seed = (HashOf(call.node.name) ^ (HashOf(call.node.name) >> 24)) & kSeedMask;
  call.sink.Warn("node '" + call.node.name + "' (" + call.node.op +
                 ") has no seed; it always uses " + std::to_string(seed) +
                 ", which is made of its name, so that every run gives the same numbers");
  return static_cast<float>(seed);
}

absl::Status UpgradeGenerator(const UpgradeCall& call) {
  call.node.attributes.set("seed", SeedOf(call));
  return absl::OkStatus();
}

/// Random numbers of the shape and, unless told otherwise, the type of the input.
absl::Status UpgradeLike(const UpgradeCall& call) {
  SourceNode& node = call.node;
  if (!call.type(0).defined()) return call.MissingInput(0);
  const TensorType like = call.type(0);
  if (!node.attributes.has("dtype")) {
    node.attributes.set("dtype", static_cast<std::int64_t>(like.element));
  }
  node.attributes.set("shape", Ints(like.shape));
  node.attributes.set("seed", SeedOf(call));
  node.op.resize(node.op.size() - std::string_view("Like").size());
  node.inputs.clear();
  return absl::OkStatus();
}

/// Numbers in [0, 1) for each element of the shape.
ValueId Uniform(UpgradeSteps& steps, const Shape& shape, ElementType element, float seed) {
  return steps.Do(
      "RandomUniform", {},
      {{"shape", Ints(shape)}, {"dtype", static_cast<std::int64_t>(element)}, {"seed", seed}});
}

/// 1 with the probability that the input says.
absl::Status UpgradeBernoulli(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const TensorType input = call.type(0);
  const std::int64_t dtype =
      call.node.attributes.get_int("dtype", static_cast<std::int64_t>(input.element));
  // Rounded to half precision, a number just below 1 would become 1.
  const ElementType wide =
      input.element == ElementType::kFloat64 ? ElementType::kFloat64 : ElementType::kFloat32;
  UpgradeSteps steps(call);
  const ValueId drawn = Uniform(steps, input.shape, wide, SeedOf(call));
  const ValueId hit = steps.Do("Less", {drawn, steps.Cast(call.input(0), wide)});
  return steps.Finish("Cast", {hit}, {{"to", dtype}});
}

/// The input as it is; before opset 10 the mask had the type of the data.
absl::Status KeepEverything(const UpgradeCall& call) {
  const TensorType data = call.type(0);
  UpgradeSteps steps(call);
  std::vector<ValueId> results{call.input(0)};
  if (call.node.outputs.size() > 1 && call.sink.IsUsed(call.node.outputs[1])) {
    const ElementType element = call.opset >= 10 ? ElementType::kBool : data.element;
    results.push_back(
        steps.Do("Expand", {steps.Number(1.0, element)}, {{"shape", Ints(data.shape)}}));
  }
  if (results.size() == 1) return steps.Finish("Identity", {results[0]});
  results[0] = steps.Do("Identity", {results[0]});
  return steps.FinishWith(results);
}

/// Whether the constant scalar is that number; false when it is none.
bool IsConstantScalar(const UpgradeCall& call, std::size_t input, float value) {
  const Tensor* tensor = call.constant(input);
  if (tensor == nullptr || tensor->count() != 1) return false;
  if (tensor->element() == ElementType::kBool) {
    return (tensor->as<std::uint8_t>()[0] != 0) == (value != 0.0F);
  }
  const std::optional<Tensor> wanted = FloatScalar(tensor->element(), value);
  return wanted && tensor->WithType(wanted->type()) == *wanted;
}

/// Each element is dropped with the probability `ratio`, the others grow by as much. Whether that
/// happens may be decided at run time.
absl::Status DropSome(const UpgradeCall& call) {
  const TensorType data = call.type(0);
  UpgradeSteps steps(call);
  const float seed = SeedOf(call);
  const bool is_certain = call.constant(2) != nullptr;
  ValueId ratio = call.input(1);
  ratio = ratio == kAbsent ? steps.Number(0.5, ElementType::kFloat32)
                           : steps.Cast(ratio, ElementType::kFloat32);
  ratio = steps.Reshape(ratio, {});
  const ValueId drawn = Uniform(steps, data.shape, ElementType::kFloat32, seed);
  ValueId mask = steps.Do("GreaterOrEqual", {drawn, ratio});
  const ValueId one = steps.Number(1.0, ElementType::kFloat32);
  ValueId factor = steps.Do("Div", {one, steps.Do("Sub", {one, ratio})});
  if (!is_certain) {
    const ValueId training = steps.Reshape(call.input(2), {});
    mask = steps.Do("Or", {mask, steps.Do("Not", {training})});
    factor = steps.Do("Where", {training, factor, one});
  }
  const ValueId grown = steps.Do("Mul", {call.input(0), steps.Cast(factor, data.element)});
  const ValueId zero = steps.Number(0.0, data.element);
  return steps.FinishWith(std::vector{steps.Do("Where", {mask, grown, zero}), mask});
}

/// Training is an input from opset 12 on; before, models were given in the form for inference.
absl::Status UpgradeDropout(const UpgradeCall& call) {
  const TensorType data = call.type(0);
  if (!data.defined()) return call.MissingInput(0);
  if (!IsFloat(data.element)) {
    return absl::InvalidArgumentError("input 0 is " + ToString(data) +
                                      ", its elements must be floats");
  }
  for (std::size_t i : {1, 2}) {
    const TensorType option = call.type(i);
    if (option.defined() && ElementCount(option.shape) != 1) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is " + ToString(option) +
                                        ", it must have one element");
    }
  }
  const bool is_inference = call.input(2) == kAbsent || IsConstantScalar(call, 2, 0.0F);
  if (is_inference || IsConstantScalar(call, 1, 0.0F)) return KeepEverything(call);
  if (call.type(2).element != ElementType::kBool) {
    return absl::InvalidArgumentError("input 2 is " + ToString(call.type(2)) +
                                      ", its element must be bool");
  }
  return DropSome(call);
}

constexpr UpgradeRow kRows[] = {
    {"Bernoulli", kAlways, UpgradeBernoulli, true},    {"Dropout", kAlways, UpgradeDropout, true},
    {"Multinomial", kAlways, UpgradeGenerator},        {"RandomNormal", kAlways, UpgradeGenerator},
    {"RandomNormalLike", kAlways, UpgradeLike, true},  {"RandomUniform", kAlways, UpgradeGenerator},
    {"RandomUniformLike", kAlways, UpgradeLike, true},
};

}  // namespace

std::span<const UpgradeRow> RandomUpgrades() { return kRows; }

}  // namespace poprt::frontend
