#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"
#include "compiler/ops/op.hpp"

/// The optimizers of the training domain, one step for any number of tensors.
namespace poprt::frontend {
namespace {

using ir::ValueId;

/// Adds steps on tensors of one type.
class Arithmetic {
 public:
  Arithmetic(UpgradeSteps& steps, ElementType element) : steps_(steps), element_(element) {}

  ValueId Number(double value) { return steps_.Number(value, element_); }
  ValueId Cast(ValueId value) { return steps_.Cast(value, element_); }
  ValueId Do(const std::string& op, ValueId a, ValueId b) { return steps_.Do(op, {a, b}); }
  ValueId Add(ValueId a, ValueId b) { return Do("Add", a, b); }
  ValueId Sub(ValueId a, ValueId b) { return Do("Sub", a, b); }
  ValueId Mul(ValueId a, ValueId b) { return Do("Mul", a, b); }
  ValueId Scaled(ValueId a, double factor) { return Mul(a, Number(factor)); }
  ValueId Div(ValueId a, ValueId b) { return Do("Div", a, b); }
  ValueId Sqrt(ValueId a) { return steps_.Do("Sqrt", {a}); }
  /// a + factor * b, without the product when the factor is 0.
  ValueId AddScaled(ValueId a, double factor, ValueId b) {
    return factor == 0.0 ? a : Add(a, Scaled(b, factor));
  }
  /// `yes` where the update count is positive, else `no`.
  ValueId IfUpdated(ValueId count, ValueId yes, ValueId no) {
    const ValueId zero = steps_.Number(0.0, steps_.type(count).element);
    return steps_.Do("Where", {steps_.Do("Greater", {count, zero}), yes, no});
  }

 private:
  UpgradeSteps& steps_;
  ElementType element_;
};

/// What an optimizer is given besides its tensors.
struct Optimizer {
  const Attributes& attributes;
  UpgradeSteps& steps;
  ValueId rate;   ///< scalar
  ValueId count;  ///< of updates before, scalar integer

  double Get(const char* name, float otherwise) const {
    return static_cast<double>(attributes.get_float(name, otherwise));
  }
};

/// The tensors of one optimized tensor in the order of the inputs (the tensor, its gradient, its
/// states) become those of the outputs (the tensor, its states).
using Step = std::vector<ValueId> (*)(const Optimizer& optimizer,
                                      const std::vector<ValueId>& tensors);

/// Inputs are the rate, the count, then `states + 2` groups of tensors; outputs `states + 1`
/// groups.
absl::Status UpgradeOptimizer(const UpgradeCall& call, std::size_t states, Step step) {
  const std::vector<ValueId> inputs = call.node.inputs;
  const std::size_t groups = states + 2;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!call.type(i).defined()) return call.MissingInput(i);
  }
  if (inputs.size() < 2 + groups || (inputs.size() - 2) % groups != 0) {
    return absl::InvalidArgumentError("has " + std::to_string(inputs.size()) +
                                      " inputs, it must have 2 and " + std::to_string(groups) +
                                      " for each tensor that is optimized");
  }
  const std::size_t tensors = (inputs.size() - 2) / groups;
  UpgradeSteps steps(call);
  const Attributes attributes = call.node.attributes;
  const Optimizer optimizer{.attributes = attributes,
                            .steps = steps,
                            .rate = steps.Reshape(inputs[0], {}),
                            .count = steps.Reshape(inputs[1], {})};
  std::vector<ValueId> results((states + 1) * tensors, ir::kAbsent);
  for (std::size_t i = 0; i < tensors; ++i) {
    std::vector<ValueId> own;
    for (std::size_t group = 0; group < groups; ++group) {
      own.push_back(inputs[2 + group * tensors + i]);
      if (call.sink.graph().type(own[group]) != call.sink.graph().type(own[0])) {
        return absl::InvalidArgumentError("input " + std::to_string(2 + group * tensors + i) +
                                          " is " + ToString(steps.type(own[group])) +
                                          ", its tensor is " + ToString(steps.type(own[0])));
      }
    }
    const std::vector<ValueId> updated = step(optimizer, own);
    for (std::size_t group = 0; group <= states; ++group) {
      results[group * tensors + i] = updated[group];
    }
  }
  return steps.FinishWith(results);
}

std::vector<ValueId> AdagradStep(const Optimizer& optimizer, const std::vector<ValueId>& tensors) {
  Arithmetic math(optimizer.steps, optimizer.steps.type(tensors[0]).element);
  const ValueId decay = math.AddScaled(math.Number(1.0), optimizer.Get("decay_factor", 0.0F),
                                       math.Cast(optimizer.count));
  const ValueId rate = math.Div(math.Cast(optimizer.rate), decay);
  const ValueId gradient =
      math.AddScaled(tensors[1], optimizer.Get("norm_coefficient", 0.0F), tensors[0]);
  const ValueId squares = math.Add(tensors[2], math.Mul(gradient, gradient));
  const ValueId adapted =
      math.Add(math.Sqrt(squares), math.Number(optimizer.Get("epsilon", 1e-6F)));
  const ValueId change = math.Div(math.Mul(rate, gradient), adapted);
  return {math.Sub(tensors[0], change), squares};
}

absl::Status UpgradeAdagrad(const UpgradeCall& call) {
  return UpgradeOptimizer(call, 1, AdagradStep);
}

std::vector<ValueId> AdamStep(const Optimizer& optimizer, const std::vector<ValueId>& tensors) {
  Arithmetic math(optimizer.steps, optimizer.steps.type(tensors[0]).element);
  const double alpha = optimizer.Get("alpha", 0.9F);
  const double beta = optimizer.Get("beta", 0.999F);
  const ValueId gradient =
      math.AddScaled(tensors[1], optimizer.Get("norm_coefficient", 0.0F), tensors[0]);
  const ValueId average =
      math.Add(math.Scaled(tensors[2], alpha), math.Scaled(gradient, 1.0 - alpha));
  const ValueId squares = math.Add(math.Scaled(tensors[3], beta),
                                   math.Scaled(math.Mul(gradient, gradient), 1.0 - beta));
  const ValueId root = math.Add(math.Sqrt(squares), math.Number(optimizer.Get("epsilon", 1e-6F)));
  const ValueId count = math.Cast(optimizer.count);
  const auto rest = [&](double factor) {
    return math.Sub(math.Number(1.0), math.Do("Pow", math.Number(factor), count));
  };
  const ValueId rate = math.Cast(optimizer.rate);
  const ValueId adjusted = math.Div(math.Mul(rate, math.Sqrt(rest(beta))), rest(alpha));
  const ValueId used = math.IfUpdated(optimizer.count, adjusted, rate);
  const ValueId moved = math.Sub(tensors[0], math.Mul(used, math.Div(average, root)));
  const double kept = 1.0 - optimizer.Get("norm_coefficient_post", 0.0F);
  return {kept == 1.0 ? moved : math.Scaled(moved, kept), average, squares};
}

absl::Status UpgradeAdam(const UpgradeCall& call) { return UpgradeOptimizer(call, 2, AdamStep); }

std::vector<ValueId> MomentumStep(const Optimizer& optimizer, const std::vector<ValueId>& tensors) {
  Arithmetic math(optimizer.steps, optimizer.steps.type(tensors[0]).element);
  const double alpha = optimizer.Get("alpha", 0.0F);
  const ValueId gradient =
      math.AddScaled(tensors[1], optimizer.Get("norm_coefficient", 0.0F), tensors[0]);
  const ValueId factor =
      math.IfUpdated(optimizer.count, math.Number(optimizer.Get("beta", 0.0F)), math.Number(1.0));
  const ValueId velocity = math.Add(math.Scaled(tensors[2], alpha), math.Mul(factor, gradient));
  const bool nesterov = optimizer.attributes.get_string("mode", "standard") == "nesterov";
  const ValueId step = nesterov ? math.Add(gradient, math.Scaled(velocity, alpha)) : velocity;
  return {math.Sub(tensors[0], math.Mul(math.Cast(optimizer.rate), step)), velocity};
}

absl::Status UpgradeMomentum(const UpgradeCall& call) {
  const Attributes& attributes = call.node.attributes;
  for (const char* name : {"alpha", "beta", "mode", "norm_coefficient"}) {
    if (attributes.has(name)) continue;
    return absl::InvalidArgumentError("attribute '" + std::string(name) + "' is missing");
  }
  const std::string mode = attributes.get_string("mode", "");
  if (mode != "standard" && mode != "nesterov") {
    return absl::InvalidArgumentError("attribute 'mode' is '" + mode +
                                      "', allowed are standard and nesterov");
  }
  return UpgradeOptimizer(call, 1, MomentumStep);
}

constexpr UpgradeRow kRows[] = {
    {"Adagrad", kAlways, UpgradeAdagrad, true, ops::kTrainingDomain},
    {"Adam", kAlways, UpgradeAdam, true, ops::kTrainingDomain},
    {"Momentum", kAlways, UpgradeMomentum, true, ops::kTrainingDomain},
};

}  // namespace

std::span<const UpgradeRow> OptimizerUpgrades() { return kRows; }

}  // namespace poprt::frontend
