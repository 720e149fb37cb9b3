#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/kernels/recurrent/recurrent_plan.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

/// Cases of recurrent operators and a plain reference for them.
namespace poprt::kernels::testing {

using enum ElementType;

inline constexpr unsigned kRecurrentSeed = 4711;
inline constexpr RecurrentKind kRecurrentKinds[] = {RecurrentKind::kRnn, RecurrentKind::kGru,
                                                    RecurrentKind::kLstm};

inline const char* NameOf(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? "RNN" : kind == RecurrentKind::kGru ? "GRU" : "LSTM";
}
inline const char* TunedNameOf(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? "rnn" : kind == RecurrentKind::kGru ? "gru" : "lstm";
}

struct RecurrentCase {
  RecurrentKind kind = RecurrentKind::kRnn;
  ElementType element = kFloat32;
  RecurrentShape shape;
  Attributes attributes;
  std::vector<Tensor> inputs;

  std::int64_t directions() const {
    return attributes.get_string("direction", "forward") == "bidirectional" ? 2 : 1;
  }
  std::vector<TensorType> outputs() const {
    auto types = shape.Outputs(ReadRecurrentOptions(kind, attributes), element);
    if (kind != RecurrentKind::kLstm) types.pop_back();
    return types;
  }
};

// ---- A plain reference: one number at a time, from ONNX's equations ---------------------------

inline double ActivationOf(const RecurrentActivation& a, double clip, double x) {
  using Function = RecurrentActivation::Function;
  x = std::min(std::max(x, -clip), clip);
  const double alpha = a.alpha, beta = a.beta;
  switch (a.function) {
    case Function::kRelu:
      return std::max(x, 0.0);
    case Function::kTanh:
      return std::tanh(x);
    case Function::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::kAffine:
      return alpha * x + beta;
    case Function::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Function::kThresholdedRelu:
      return x < alpha ? 0 : x;
    case Function::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Function::kHardSigmoid:
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case Function::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Function::kSoftsign:
      return x / (1 + std::fabs(x));
    case Function::kSoftplus:
      return std::log1p(std::exp(x));
  }
  return 0;
}

class RecurrentReference {
 public:
  explicit RecurrentReference(const RecurrentCase& test)
      : test_(test),
        s_(test.shape),
        options_(ReadRecurrentOptions(test.kind, test.attributes)),
        gates_(GatesOf(test.kind)) {
    for (const Tensor& input : test.inputs) {
      values_.push_back(input.type().defined() ? ToValues(input) : Values());
    }
    values_.resize(8);
    for (const TensorType& type : options_outputs()) {
      outputs.emplace_back(static_cast<std::size_t>(ElementCount(type.shape)), 0.0);
    }
    for (std::int64_t d = 0; d < options_.directions; ++d) {
      for (std::int64_t b = 0; b < s_.batch; ++b) RunSequence(d, b);
    }
  }

  std::vector<Values> outputs;

 private:
  std::vector<TensorType> options_outputs() const { return s_.Outputs(options_, kFloat64); }

  double In(std::size_t i, std::int64_t at) const {
    return values_[i].empty() ? 0 : values_[i][static_cast<std::size_t>(at)];
  }
  std::int64_t StateAt(std::int64_t d, std::int64_t b, std::int64_t j) const {
    const std::int64_t row = options_.batch_first ? b * options_.directions + d : d * s_.batch + b;
    return row * s_.hidden + j;
  }
  double ByInput(std::int64_t d, std::int64_t gate, std::int64_t j, std::int64_t t,
                 std::int64_t b) const {
    double sum = 0;
    const std::int64_t row = options_.batch_first ? b * s_.steps + t : t * s_.batch + b;
    for (std::int64_t k = 0; k < s_.inputs; ++k) {
      sum +=
          In(0, row * s_.inputs + k) * In(1, ((d * gates_ + gate) * s_.hidden + j) * s_.inputs + k);
    }
    return sum + In(3, (d * 2 * gates_ + gate) * s_.hidden + j);
  }
  double ByState(std::int64_t d, std::int64_t gate, std::int64_t j, const Values& h) const {
    double sum = 0;
    for (std::int64_t k = 0; k < s_.hidden; ++k) {
      sum += h[static_cast<std::size_t>(k)] *
             In(2, ((d * gates_ + gate) * s_.hidden + j) * s_.hidden + k);
    }
    return sum + In(3, (d * 2 * gates_ + gates_ + gate) * s_.hidden + j);
  }
  double Act(std::int64_t d, std::size_t which, double x) const {
    const std::size_t each = ActivationsOf(test_.kind);
    return ActivationOf(options_.activations[static_cast<std::size_t>(d) * each + which],
                        static_cast<double>(options_.clip), x);
  }

  void RunSequence(std::int64_t d, std::int64_t b) {
    const std::int64_t length =
        values_[4].empty()
            ? s_.steps
            : std::min(std::max(static_cast<std::int64_t>(In(4, b)), std::int64_t{0}), s_.steps);
    Values h, c;
    for (std::int64_t j = 0; j < s_.hidden; ++j) {
      h.push_back(In(5, StateAt(d, b, j)));
      c.push_back(In(6, StateAt(d, b, j)));
    }
    const bool reversed = d == 1 || options_.first_reversed;
    for (std::int64_t step = 0; step < length; ++step) {
      const std::int64_t t = reversed ? length - 1 - step : step;
      Step(d, t, b, h, c);
      for (std::int64_t j = 0; j < s_.hidden; ++j) {
        const std::int64_t row = options_.batch_first
                                     ? (b * s_.steps + t) * options_.directions + d
                                     : (t * options_.directions + d) * s_.batch + b;
        outputs[0][static_cast<std::size_t>(row * s_.hidden + j)] = h[static_cast<std::size_t>(j)];
      }
    }
    if (length == 0) return;
    for (std::int64_t j = 0; j < s_.hidden; ++j) {
      const auto at = static_cast<std::size_t>(StateAt(d, b, j));
      outputs[1][at] = h[static_cast<std::size_t>(j)];
      outputs[2][at] = c[static_cast<std::size_t>(j)];
    }
  }

  void Step(std::int64_t d, std::int64_t t, std::int64_t b, Values& h, Values& c) const {
    const Values before = h;
    Values passed = h;
    const auto both = [&](std::int64_t gate, std::int64_t j) {
      return ByInput(d, gate, j, t, b) + ByState(d, gate, j, before);
    };
    if (test_.kind == RecurrentKind::kGru) {
      for (std::int64_t j = 0; j < s_.hidden; ++j) {
        passed[static_cast<std::size_t>(j)] *= Act(d, 0, both(1, j));
      }
    }
    for (std::int64_t j = 0; j < s_.hidden; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (test_.kind == RecurrentKind::kRnn) {
        h[at] = Act(d, 0, both(0, j));
      } else if (test_.kind == RecurrentKind::kGru) {
        const double z = Act(d, 0, both(0, j));
        const double r = Act(d, 0, both(1, j));
        const double state =
            options_.linear_before_reset ? r * ByState(d, 2, j, before) : ByState(d, 2, j, passed);
        h[at] = (1 - z) * Act(d, 1, ByInput(d, 2, j, t, b) + state) + z * before[at];
      } else {
        // Without peepholes an infinite cell must not become NaN here.
        const auto peephole = [&](std::int64_t which) {
          return values_[7].empty() ? 0 : In(7, (d * 3 + which) * s_.hidden + j) * c[at];
        };
        const double i = Act(d, 0, both(0, j) + peephole(0));
        const double f = options_.input_forget ? 1 - i : Act(d, 0, both(2, j) + peephole(2));
        c[at] = f * c[at] + i * Act(d, 1, both(3, j));
        const double o = Act(d, 0, both(1, j) + peephole(1));
        h[at] = o * Act(d, 2, c[at]);
      }
    }
  }

  const RecurrentCase& test_;
  RecurrentShape s_;
  RecurrentOptions options_;
  std::int64_t gates_;
  std::vector<Values> values_;
};

/// Differences of float32 may be so many units in the last place of two.
constexpr double kOrdinaryUlps = 30;
/// The same with a matrix unit, which rounds every product, of up to 760 of a sum here: by 2^-18 on
/// average, see matrix_unit.hpp.
constexpr double kUnitUlps = 100;

inline void ExpectReference(const RecurrentCase& test, const std::vector<Tensor>& found,
                            double ulps = kOrdinaryUlps) {
  const RecurrentReference reference(test);
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    if (!found[i].type().defined()) continue;
    const bool half = test.element == kFloat16 || test.element == kBFloat16;
    ExpectClose(found[i], reference.outputs[i], half ? 1 : ulps, 2);
  }
}

inline bool UsesUnit(const RecurrentPlan& plan) {
  return plan.split.has_value() || plan.SplitsState();
}

inline RecurrentCase Packed(RecurrentCase test) {
  test.attributes.set("packed", std::int64_t{1});
  test.attributes.set("hidden_size", test.shape.hidden);
  for (const std::size_t w : {1U, 2U}) {
    test.inputs[w] = PackRecurrentWeights(test.inputs[w], GatesOf(test.kind));
  }
  return test;
}

/// Large enough that steps are shared out, in parts that differ in size, and long enough for
/// several chunks.
inline RecurrentCase LargeCase(RecurrentKind kind, const std::string& direction, std::int64_t batch,
                               ElementType element, std::int64_t inputs = 30,
                               std::int64_t h = 240) {
  std::mt19937 random(kRecurrentSeed);
  const std::int64_t d = direction == "bidirectional" ? 2 : 1, gates = GatesOf(kind);
  const std::int64_t steps = 160 / batch;
  return {.kind = kind,
          .element = element,
          .shape = {.steps = steps, .batch = batch, .inputs = inputs, .hidden = h},
          .attributes = {{"direction", direction}},
          .inputs = {RandomTensor(random, element, {steps, batch, inputs}, -1, 1),
                     RandomTensor(random, element, {d, gates * h, inputs}, -0.1, 0.1),
                     RandomTensor(random, element, {d, gates * h, h}, -0.1, 0.1),
                     RandomTensor(random, element, {d, 2 * gates * h}, -0.1, 0.1),
                     RandomTensor(random, kInt32, {batch}, 0, steps + 1),
                     RandomTensor(random, element, {d, batch, h}, -1, 1)}};
}

inline KernelCall CallOf(const RecurrentCase& test) {
  KernelCall call{.inputs = {}, .outputs = test.outputs(), .attributes = test.attributes};
  for (const Tensor& input : test.inputs) call.inputs.push_back(input.type());
  return call;
}

inline std::vector<Tensor> RunWithThreads(const BoundKernel& kernel, const RecurrentCase& test,
                                          int threads) {
  const auto outputs = test.outputs();
  std::vector<const std::byte*> sources;
  for (const Tensor& input : test.inputs) {
    sources.push_back(input.type().defined() ? input.data() : nullptr);
  }
  ThreadPool pool(threads);
  Tensor scratch({kUint8, {threads * static_cast<std::int64_t>(kernel.scratch_bytes)}});
  std::vector<Tensor> results(outputs.begin(), outputs.end());
  std::vector<std::byte*> targets;
  targets.reserve(results.size());
  for (Tensor& output : results) targets.push_back(output.mutable_data());
  kernel.run(
      {.inputs = sources, .outputs = targets, .scratch = scratch.mutable_data(), .pool = &pool});
  return results;
}

}  // namespace poprt::kernels::testing
