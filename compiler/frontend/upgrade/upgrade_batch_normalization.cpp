#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

namespace poprt::frontend {
namespace {

using ir::ValueId;

/// Operands of one BatchNormalization, in the order of its inputs.
struct Operands {
  ValueId data;
  ValueId scale;
  ValueId bias;
  ValueId mean;
  ValueId variance;
};

struct Moments {
  ValueId mean;
  ValueId variance;
};

/// Statistics of half types are kept in float32.
ElementType StatisticsType(ElementType element) {
  return element == ElementType::kFloat64 ? ElementType::kFloat64 : ElementType::kFloat32;
}

/// Mean and variance over these axes, of float32 or float64 and without the axes.
Moments MomentsOf(UpgradeSteps& steps, ValueId data, const Ints& axes) {
  const ValueId wide = steps.Cast(data, StatisticsType(steps.type(data).element));
  const ValueId kept = steps.Do("ReduceMean", {wide}, {{"axes", axes}});
  const ValueId distance = steps.Do("Sub", {wide, kept});
  const ValueId square = steps.Do("Mul", {distance, distance});
  const Attributes gone{{"axes", axes}, {"keepdims", std::int64_t{0}}};
  return {.mean = steps.Do("ReduceMean", {wide}, gone),
          .variance = steps.Do("ReduceMean", {square}, gone)};
}

/// old * momentum + now * (1 - momentum), of the type of the old.
ValueId Running(UpgradeSteps& steps, ValueId old, ValueId now, float momentum) {
  const ElementType element = steps.type(old).element;
  const ElementType wide = steps.type(now).element;
  const auto kept = static_cast<double>(momentum);
  const ValueId first = steps.Do("Mul", {steps.Cast(old, wide), steps.Number(kept, wide)});
  const ValueId second = steps.Do("Mul", {now, steps.Number(1.0 - kept, wide)});
  return steps.Cast(steps.Do("Add", {first, second}), element);
}

/// Normalises with statistics of every element of a sample, which all have `shape`.
ValueId NormalizeElements(UpgradeSteps& steps, const Operands& operands, const Shape& shape,
                          float epsilon) {
  const ElementType element = steps.type(operands.data).element;
  const ElementType wide = StatisticsType(element);
  const auto as_sample = [&](ValueId value) {
    return steps.Reshape(steps.Cast(value, wide), shape);
  };
  const ValueId distance =
      steps.Do("Sub", {steps.Cast(operands.data, wide), as_sample(operands.mean)});
  const ValueId raised =
      steps.Do("Add", {as_sample(operands.variance), steps.Number(epsilon, wide)});
  const ValueId normal = steps.Do("Div", {distance, steps.Do("Sqrt", {raised})});
  const ValueId scaled = steps.Do("Mul", {normal, as_sample(operands.scale)});
  return steps.Cast(steps.Do("Add", {scaled, as_sample(operands.bias)}), element);
}

/// One BatchNormalization with what its attributes say.
class BatchNormalization {
 public:
  explicit BatchNormalization(const UpgradeCall& call)
      : call_(call),
        steps_(call),
        operands_{call.input(0), call.input(1), call.input(2), call.input(3), call.input(4)},
        epsilon_(call.node.attributes.get_float("epsilon", 1e-5F)),
        momentum_(call.node.attributes.get_float("momentum", 0.9F)),
        spatial_(call.node.attributes.get_int("spatial", 1) != 0) {}

  absl::Status ForInference() {
    call_.node.outputs.resize(1);
    if (!spatial_) return steps_.FinishWith(std::vector{Normalize(operands_)});
    Attributes& attributes = call_.node.attributes;
    for (const char* name : {"is_test", "momentum", "spatial", "training_mode"}) {
      attributes.erase(name);
    }
    return absl::OkStatus();
  }

  /// Normalises with the statistics of the batch; further outputs are running statistics and,
  /// before opset 14, those of the batch.
  absl::Status ForTraining() {
    const Shape shape = call_.type(0).shape;
    Ints axes;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i == 0 || (spatial_ && i > 1)) axes.push_back(static_cast<std::int64_t>(i));
    }
    const ElementType element = call_.type(3).element;
    const Shape old_shape = call_.type(3).shape;
    Moments now = MomentsOf(steps_, operands_.data, axes);
    now.mean = steps_.Reshape(now.mean, old_shape);
    now.variance = steps_.Reshape(now.variance, old_shape);
    Operands used = operands_;
    used.mean = now.mean;
    used.variance = now.variance;
    std::vector<ValueId> results{Normalize(used),
                                 Running(steps_, operands_.mean, now.mean, momentum_),
                                 Running(steps_, operands_.variance, now.variance, momentum_)};
    if (call_.opset < 14) {
      results.push_back(steps_.Cast(now.mean, element));
      results.push_back(steps_.Cast(now.variance, element));
    }
    return steps_.FinishWith(results);
  }

 private:
  ValueId Normalize(const Operands& operands) {
    if (!spatial_) {
      const Shape& shape = call_.type(0).shape;
      return NormalizeElements(steps_, operands, Shape(shape.begin() + 1, shape.end()), epsilon_);
    }
    return steps_.Do(
        "BatchNormalization",
        {operands.data, operands.scale, operands.bias, operands.mean, operands.variance},
        {{"epsilon", epsilon_}});
  }

  const UpgradeCall& call_;
  UpgradeSteps steps_;
  Operands operands_;
  float epsilon_;
  float momentum_;
  bool spatial_;
};

absl::Status UpgradeBatchNormalization(const UpgradeCall& call) {
  for (std::size_t i = 0; i < 5; ++i) {
    if (!call.type(i).defined()) return call.MissingInput(i);
  }
  if (call.type(0).shape.size() < 2) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", it must have at least 2 dimensions");
  }
  const auto& outputs = call.node.outputs;
  const bool more = std::any_of(outputs.begin() + (outputs.empty() ? 0 : 1), outputs.end(),
                                [&](const std::string& name) { return call.sink.IsUsed(name); });
  // Before opset 14 the form with more outputs was the one for training; models for inference came
  // with outputs that nobody reads.
  const bool training =
      call.opset >= 14 ? call.node.attributes.get_int("training_mode", 0) != 0 : more;
  if (more && !training) {
    return absl::InvalidArgumentError("has only one output unless attribute 'training_mode' is 1");
  }
  BatchNormalization form(call);
  return training ? form.ForTraining() : form.ForInference();
}

constexpr UpgradeRow kRows[] = {
    {"BatchNormalization", kAlways, UpgradeBatchNormalization},
};

}  // namespace

std::span<const UpgradeRow> BatchNormalizationUpgrades() { return kRows; }

}  // namespace poprt::frontend
