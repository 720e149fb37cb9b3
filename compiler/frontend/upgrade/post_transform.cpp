#include "compiler/frontend/upgrade/post_transform.hpp"

#include <cstdint>
#include <numbers>

namespace poprt::frontend {
namespace {

using ir::ValueId;

/// Softmax of the scores that are not zero.
ValueId SoftmaxZero(UpgradeSteps& steps, ValueId scores) {
  const ElementType element = steps.type(scores).element;
  const ValueId most = steps.Do("ReduceMax", {scores}, {{"axes", Ints{-1}}});
  const ValueId powers = steps.Do("Exp", {steps.Do("Sub", {scores, most})});
  const ValueId scaled = steps.Do("Mul", {scores, steps.Do("Exp", {steps.Do("Neg", {most})})});
  const ValueId is_some =
      steps.Do("Greater", {steps.Do("Abs", {scores}), steps.Number(1e-7, element)});
  const ValueId chosen = steps.Do("Where", {is_some, powers, scaled});
  return steps.Do("Div", {chosen, steps.Do("ReduceSum", {chosen}, {{"axes", Ints{-1}}})});
}

/// sqrt(2) times the inverse of the error function at 2 p - 1, by Winitzki's formula as ONNX
/// Runtime has it.
ValueId Probit(UpgradeSteps& steps, ValueId scores) {
  constexpr double kA = 0.147;
  const ElementType element = steps.type(scores).element;
  const auto number = [&](double value) { return steps.Number(value, element); };
  const auto twice = [&](const char* op, ValueId a, ValueId b) { return steps.Do(op, {a, b}); };
  const ValueId x = twice("Sub", twice("Mul", scores, number(2.0)), number(1.0));
  const ValueId rest = twice("Mul", twice("Sub", number(1.0), x), twice("Add", number(1.0), x));
  const ValueId log = steps.Do("Log", {rest});
  const ValueId v =
      twice("Add", twice("Mul", log, number(0.5)), number(2.0 / (std::numbers::pi * kA)));
  const ValueId square = twice("Sub", twice("Mul", v, v), twice("Mul", log, number(1.0 / kA)));
  const ValueId root = steps.Do("Sqrt", {twice("Sub", steps.Do("Sqrt", {square}), v)});
  const ValueId sign = steps.Do("Sign", {x});
  return twice("Mul", twice("Mul", sign, root), number(std::numbers::sqrt2));
}

}  // namespace

absl::StatusOr<ValueId> PostTransform(UpgradeSteps& steps, const std::string& name,
                                      ValueId scores) {
  if (name == "NONE") return scores;
  if (name == "LOGISTIC") return steps.Do("Sigmoid", {scores});
  if (name == "SOFTMAX") return steps.Do("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  if (name == "SOFTMAX_ZERO") return SoftmaxZero(steps, scores);
  if (name == "PROBIT") return Probit(steps, scores);
  return absl::InvalidArgumentError("attribute 'post_transform' is '" + name +
                                    "', allowed are NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO, PROBIT");
}

}  // namespace poprt::frontend
