#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/inner_loops_testing.hpp"
#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/recurrent/recurrent_kernels.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/kernels/recurrent/recurrent_plan.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::ExpectClose;
using testing::ForSeeds;
using testing::FromValues;
using testing::RandomSpecials;
using testing::RandomTensor;
using testing::ToValues;
using testing::Values;
using enum ElementType;
using Function = RecurrentActivation::Function;

constexpr unsigned kSeed = 4711;

const char* NameOf(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? "RNN" : kind == RecurrentKind::kGru ? "GRU" : "LSTM";
}
const char* TunedNameOf(RecurrentKind kind) {
  return kind == RecurrentKind::kRnn ? "rnn" : kind == RecurrentKind::kGru ? "gru" : "lstm";
}

struct Case {
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

double ActivationOf(const RecurrentActivation& a, double clip, double x) {
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

class Reference {
 public:
  explicit Reference(const Case& test)
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

  const Case& test_;
  RecurrentShape s_;
  RecurrentOptions options_;
  std::int64_t gates_;
  std::vector<Values> values_;
};

// ---- Random cases -----------------------------------------------------------------------------

void AddActivations(std::mt19937& random, Case& test) {
  static const Strings names{"Sigmoid", "tanh",     "HARDSIGMOID",    "Softsign",
                             "Relu",    "Affine",   "ScaledTanh",     "LeakyRelu",
                             "Elu",     "softPlus", "ThresholdedRelu"};
  Strings chosen(ActivationsOf(test.kind) * static_cast<std::size_t>(test.directions()));
  std::size_t alphas = 0, betas = 0;
  for (std::string& name : chosen) {
    name = names[random() % names.size()];
    alphas += FindRecurrentActivation(name)->has_alpha ? 1 : 0;
    betas += FindRecurrentActivation(name)->has_beta ? 1 : 0;
  }
  Floats alpha(random() % (alphas + 1), 0.3F), beta(random() % (betas + 1), 0.4F);
  test.attributes.set("activations", chosen);
  test.attributes.set("activation_alpha", alpha);
  test.attributes.set("activation_beta", beta);
}

Case RandomCase(std::mt19937& random) {
  Case test;
  test.kind = static_cast<RecurrentKind>(random() % 3);
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  test.element = kElements[random() % 4];
  test.shape = {.steps = Draw(random, 0, 9),
                .batch = Draw(random, 0, 7),
                .inputs = Draw(random, 0, 20),
                .hidden = Draw(random, 1, 36)};
  const auto maybe = [&] { return random() % 2 == 0; };
  const char* directions[] = {"forward", "reverse", "bidirectional"};
  test.attributes.set("direction", std::string(directions[random() % 3]));
  test.attributes.set("layout", static_cast<std::int64_t>(random() % 2));
  if (maybe()) test.attributes.set("hidden_size", test.shape.hidden);
  if (maybe()) test.attributes.set("clip", 0.5F);
  if (maybe()) AddActivations(random, test);
  const std::int64_t d = test.directions(), h = test.shape.hidden, gates = GatesOf(test.kind);
  const bool batch_first = test.attributes.get_int("layout", 0) == 1;
  const bool specials = random() % 6 == 0;
  // A state that is NaN or infinite, here and there, leaves the other sequences alone.
  const auto make = [&](const Shape& shape, bool is_data = false) {
    return specials && is_data ? RandomSpecials(random, test.element, shape, -0.4, 0.4)
                               : RandomTensor(random, test.element, shape, -0.4, 0.4);
  };
  const auto optional = [&](const Shape& shape, bool is_data = false) {
    return maybe() ? make(shape, is_data) : Tensor();
  };
  const Shape x = batch_first ? Shape{test.shape.batch, test.shape.steps, test.shape.inputs}
                              : Shape{test.shape.steps, test.shape.batch, test.shape.inputs};
  const Shape state = batch_first ? Shape{test.shape.batch, d, h} : Shape{d, test.shape.batch, h};
  test.inputs = {make(x, true),
                 make({d, gates * h, test.shape.inputs}),
                 make({d, gates * h, h}),
                 optional({d, 2 * gates * h}),
                 Tensor(),
                 optional(state, true)};
  if (maybe()) test.inputs[4] = RandomTensor(random, kInt32, {test.shape.batch}, -3, 15);
  if (test.kind == RecurrentKind::kLstm) {
    test.attributes.set("input_forget", static_cast<std::int64_t>(random() % 2));
    test.inputs.push_back(optional(state, true));
    test.inputs.push_back(optional({d, 3 * h}));
  }
  if (test.kind == RecurrentKind::kGru) {
    test.attributes.set("linear_before_reset", static_cast<std::int64_t>(random() % 2));
  }
  return test;
}

void ExpectReference(const Case& test, const std::vector<Tensor>& found) {
  const Reference reference(test);
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    if (!found[i].type().defined()) continue;
    const bool half = test.element == kFloat16 || test.element == kBFloat16;
    ExpectClose(found[i], reference.outputs[i], half ? 1 : 30, 2);
  }
}

TEST(RecurrentTest, MatchesTheEquations) {
  ForSeeds(300, [](std::mt19937& random) {
    const Case test = RandomCase(random);
    std::vector<TensorType> outputs = test.outputs();
    while (outputs.size() > 1 && random() % 3 == 0) outputs.pop_back();
    if (random() % 3 == 0) outputs[random() % outputs.size()] = {};
    ExpectReference(test, RunOnce(NameOf(test.kind), test.inputs, outputs, test.attributes));
  });
}

TEST(RecurrentTest, SequencesWithoutStepsEndInZeros) {
  const auto halves = [](const Shape& shape) {
    return FromValues(kFloat32, shape, Values(static_cast<std::size_t>(ElementCount(shape)), 0.5));
  };
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const auto kind : {RecurrentKind::kRnn, RecurrentKind::kGru, RecurrentKind::kLstm}) {
      SCOPED_TRACE(std::string(NameOf(kind)) + " " + direction);
      Case test{.kind = kind,
                .shape = {.steps = 2, .batch = 2, .inputs = 1, .hidden = 1},
                .attributes = {{"direction", std::string(direction)}},
                .inputs = {}};
      const std::int64_t d = test.directions(), gates = GatesOf(kind);
      test.inputs = {halves({2, 2, 1}), halves({d, gates, 1}),           halves({d, gates, 1}),
                     Tensor(),          FromValues(kInt32, {2}, {0, 1}), halves({d, 2, 1})};
      if (kind == RecurrentKind::kLstm) test.inputs.push_back(halves({d, 2, 1}));
      const auto outputs = RunOnce(NameOf(kind), test.inputs, test.outputs(), test.attributes);
      for (std::size_t k = 1; k < outputs.size(); ++k) {
        const Values state = ToValues(outputs[k]);
        for (std::size_t i = 0; i < state.size(); i += 2) {
          EXPECT_EQ(state[i], 0);
          EXPECT_NE(state[i + 1], 0);
        }
      }
    }
  }
}

Case Packed(Case test) {
  test.attributes.set("packed", std::int64_t{1});
  test.attributes.set("hidden_size", test.shape.hidden);
  for (const std::size_t w : {1U, 2U}) {
    test.inputs[w] = PackRecurrentWeights(test.inputs[w], GatesOf(test.kind));
  }
  return test;
}

TEST(RecurrentTest, TunedFormsTakePackedWeights) {
  ForSeeds(100, [](std::mt19937& random) {
    Case test = RandomCase(random);
    const auto plain =
        RunOnce(TunedNameOf(test.kind), test.inputs, test.outputs(), test.attributes);
    ExpectReference(test, plain);
    const bool can_pack = test.element == kFloat32 || test.element == kFloat16;
    if (!can_pack || test.shape.inputs == 0) return;
    const Case of = Packed(test);
    const auto packed = RunOnce(TunedNameOf(of.kind), of.inputs, of.outputs(), of.attributes);
    // Widening float16 weights before or within the product is the same, but for the sign of NaN.
    for (std::size_t k = 0; k < plain.size(); ++k) ExpectClose(packed[k], ToValues(plain[k]), 0);
  });
}

/// Large enough that steps are shared out, in parts that differ in size, and long enough for
/// several chunks.
Case LargeCase(RecurrentKind kind, const std::string& direction, std::int64_t batch,
               ElementType element, std::int64_t inputs = 30, std::int64_t h = 240) {
  std::mt19937 random(kSeed);
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

KernelCall CallOf(const Case& test) {
  KernelCall call{.inputs = {}, .outputs = test.outputs(), .attributes = test.attributes};
  for (const Tensor& input : test.inputs) call.inputs.push_back(input.type());
  return call;
}

std::vector<Tensor> RunWithThreads(const BoundKernel& kernel, const Case& test, int threads) {
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

void ExpectSameWithThreads(std::string_view name, const Case& test) {
  SCOPED_TRACE(std::string(name) + " of batch " + std::to_string(test.shape.batch));
  const auto alone = RunOnce(name, test.inputs, test.outputs(), test.attributes);
  ExpectReference(test, alone);
  const BoundKernel kernel = FindKernel(name)->bind(CallOf(test));
  for (const int threads : {2, 3}) EXPECT_EQ(RunWithThreads(kernel, test, threads), alone);
}

constexpr RecurrentKind kKinds[] = {RecurrentKind::kRnn, RecurrentKind::kGru, RecurrentKind::kLstm};

TEST(RecurrentTest, LongSequencesDoNotDependOnThreads) {
  for (const RecurrentKind kind : kKinds) {
    for (const char* direction : {"reverse", "bidirectional"}) {
      for (const std::int64_t batch : {kTileRows + 2, kTileRows / 2}) {
        Case test = LargeCase(kind, direction, batch, kFloat32);
        ExpectSameWithThreads(NameOf(kind), test);
        ExpectSameWithThreads(TunedNameOf(kind), test);
        if (kind != RecurrentKind::kGru) continue;
        test.attributes.set("linear_before_reset", std::int64_t{1});
        ExpectSameWithThreads(TunedNameOf(kind), test);
      }
    }
  }
}

TEST(RecurrentTest, OtherElementsAndManyInputsDoNotDependOnThreads) {
  for (const RecurrentKind kind : kKinds) {
    const auto name = TunedNameOf(kind);
    ExpectSameWithThreads(name, LargeCase(kind, "forward", 3, ElementType::kFloat64));
    ExpectSameWithThreads(name, LargeCase(kind, "forward", 3, ElementType::kFloat16));
    // So many inputs are shared out apart, and those of steps that are not shared out.
    ExpectSameWithThreads(name, LargeCase(kind, "reverse", 1, kFloat32, 520, 70));
    Case large = LargeCase(kind, "bidirectional", 8, kFloat32, 520);
    ExpectSameWithThreads(name, large);
    large.inputs[0].as_mutable<float>()[7] = std::numeric_limits<float>::infinity();
    ExpectSameWithThreads(name, large);
  }
}

TEST(RecurrentTest, ThreadsShareOutSequences) {
  for (const RecurrentKind kind : kKinds) {
    for (const char* direction : {"reverse", "bidirectional"}) {
      for (const std::int64_t batch : {9, 37}) {
        for (const std::int64_t layout : {0, 1}) {
          SCOPED_TRACE(std::string(TunedNameOf(kind)) + " " + direction + ", batch " +
                       std::to_string(batch) + ", layout " + std::to_string(layout));
          Case test = LargeCase(kind, direction, batch, kFloat32, 20, 52);
          if (layout == 1) {
            std::mt19937 random(kSeed);
            test.attributes.set("layout", layout);
            test.inputs[0] = RandomTensor(random, kFloat32, {batch, test.shape.steps, 20}, -1, 1);
            test.inputs[5] = RandomTensor(random, kFloat32, {batch, test.directions(), 52}, -1, 1);
          }
          const Case packed = Packed(test);
          const RecurrentPlan plan(kind, CallOf(packed), BestInnerLoops());
          EXPECT_EQ(plan.sequences, batch == 9 ? 5 : 10);
          const BoundKernel kernel = FindKernel(TunedNameOf(kind))->bind(CallOf(packed));
          const auto alone = RunWithThreads(kernel, packed, 1);
          ExpectReference(test, alone);
          for (const int threads : {2, 3}) {
            EXPECT_EQ(RunWithThreads(kernel, packed, threads), alone);
          }
        }
      }
    }
  }
}

TEST(RecurrentTest, SequencesOfAPartDependOnSizes) {
  const auto sequences = [](RecurrentKind kind, std::int64_t batch, std::int64_t h) {
    const Case packed = Packed(LargeCase(kind, "forward", batch, kFloat32, 20, h));
    return RecurrentPlan(kind, CallOf(packed), BestInnerLoops()).sequences;
  };
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 4, 80), 2);
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 3, 80), 3);  // nothing to share out
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 7, 20), 7);  // short steps
  EXPECT_EQ(sequences(RecurrentKind::kGru, 7, 80), 7);
  EXPECT_EQ(sequences(RecurrentKind::kGru, 8, 80), 4);
  EXPECT_EQ(sequences(RecurrentKind::kRnn, 80, 80), 14);    // six parts
  EXPECT_EQ(sequences(RecurrentKind::kLstm, 40, 240), 40);  // weights of 975 KiB
  EXPECT_EQ(sequences(RecurrentKind::kRnn, 8, 10), 8);      // too little work
}

/// With a matrix unit, emulated where there is none.
void ExpectSameOnUnit(const Case& test) {
  for (const InnerLoops* loops : testing::AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    SCOPED_TRACE(loops->instruction_set);
    ASSERT_TRUE(RecurrentPlan(test.kind, CallOf(test), *loops).split.has_value());
    const BoundKernel kernel = BindRecurrent(test.kind, CallOf(test), *loops);
    const auto alone = RunWithThreads(kernel, test, 1);
    ExpectReference(test, alone);
    for (const int threads : {2, 3}) EXPECT_EQ(RunWithThreads(kernel, test, threads), alone);
  }
}

TEST(RecurrentTest, MoreRowsAndPanelsThanTheMatrixUnitTakesAtOnce) {
  // 104 panels, in two parts of the depth.
  ExpectSameOnUnit(LargeCase(RecurrentKind::kLstm, "forward", 4, kFloat32, 800, 416));
  Case long_chunk = LargeCase(RecurrentKind::kGru, "forward", 1, kFloat32, 160, 64);
  long_chunk.shape.steps = 600;
  std::mt19937 random(kSeed);
  long_chunk.inputs[0] = RandomTensor(random, kFloat32, {600, 1, 160}, -1, 1);
  long_chunk.attributes.set("block_sizes", Ints{600});
  ExpectSameOnUnit(long_chunk);
}

TEST(RecurrentTest, GatesThatOverflowDoNotChangeThoseBesideThem) {
  Case test = LargeCase(RecurrentKind::kLstm, "forward", 1, kFloat32, 520, 48);
  test.inputs[1].as_mutable<float>()[48 * 520] = 3e38F;
  for (std::size_t i = 0; i < 160 * 520; i += 520) test.inputs[0].as_mutable<float>()[i] *= 9;
  ExpectSameOnUnit(test);
}

TEST(RecurrentTest, NamesOfActivationsIgnoreCase) {
  ASSERT_NE(FindRecurrentActivation("ThresholdedRELU"), nullptr);
  EXPECT_EQ(FindRecurrentActivation("ThresholdedRELU")->defaults.function,
            Function::kThresholdedRelu);
  EXPECT_EQ(FindRecurrentActivation("Tan"), nullptr);
  EXPECT_EQ(FindRecurrentActivation("Tanhh"), nullptr);
}

TEST(RecurrentTest, ActivationsKeepNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"relu", "tanh", "sigmoid", "affine", "leakyrelu", "thresholdedrelu",
                           "scaledtanh", "hardsigmoid", "elu", "softsign", "softplus"}) {
    float x = nan;
    Activate(FindRecurrentActivation(name)->defaults, 1.0F, &x, 1);
    EXPECT_TRUE(std::isnan(x)) << name;
  }
}

TEST(RecurrentTest, NumbersGoToTheFunctionsThatHaveThem) {
  const RecurrentOptions options = ReadRecurrentOptions(
      RecurrentKind::kLstm, {{"activations", Strings{"Sigmoid", "Affine", "LeakyRelu"}},
                             {"activation_alpha", Floats{2.0F}},
                             {"activation_beta", Floats{3.0F}}});
  EXPECT_EQ(options.activations[1], (RecurrentActivation{Function::kAffine, 2.0F, 3.0F}));
  EXPECT_EQ(options.activations[2], (RecurrentActivation{Function::kLeakyRelu, 0.01F, 0.0F}));
}

TEST(RecurrentTest, RefusesWhatDoesNotFit) {
  const std::vector<TensorType> inputs{
      {kFloat32, {5, 2, 3}}, {kFloat32, {1, 4, 3}}, {kFloat32, {1, 4, 4}}};
  const std::vector<TensorType> outputs{{kFloat32, {5, 1, 2, 4}}, {kFloat32, {1, 2, 4}}};
  EXPECT_EQ(BindError("RNN", inputs, outputs), "");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"hidden_size", std::int64_t{5}}}),
            "attribute 'hidden_size' is 5, but input 2 (R) is float32[1, 4, 4]");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"direction", std::string("up")}}),
            "attribute 'direction' is \"up\", allowed are forward, reverse, bidirectional");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"activations", Strings{"Tanh", "Tanh"}}}),
            "attribute 'activations' has 2 functions, expected are 1 for 1 direction");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"activations", std::string("Tanh")}}),
            "attribute 'activations' is not a list of strings");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"clip", 0.0F}}),
            "attribute 'clip' is 0.000000, it must be positive; leave it out to clip nothing");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"activation_alpha", Floats{1, 2}}}),
            "attribute 'activation_alpha' has 2 numbers for 1 activation functions");
  EXPECT_EQ(BindError("GRU", inputs, outputs),
            "input 1 (W) is float32[1, 4, 3], it must be float32[1, 12, 3]");
  auto lengths = inputs;
  lengths.insert(lengths.end(), {{}, {kInt64, {2}}});
  EXPECT_EQ(BindError("RNN", lengths, outputs),
            "input 4 (sequence_lens) is int64[2], it must be int32[2]");
  EXPECT_EQ(BindError("rnn", inputs, outputs, {{"packed", std::int64_t{1}}}),
            "the hidden size is 0, it must be at least 1");
}

/// Of LSTM alone, and only where fewer panels are worth the sums.
TEST(RecurrentTest, RestsOfGatesSharePanels) {
  const auto text = [](std::int64_t gates, std::int64_t hidden) {
    const RecurrentPanelLayout layout(gates, hidden);
    return std::to_string(layout.of_gate) + " of a gate, " + std::to_string(layout.rest) +
           " units in " + std::to_string(layout.shared);
  };
  EXPECT_EQ(text(4, 100), "6 of a gate, 4 units in 1");
  EXPECT_EQ(text(4, 20), "1 of a gate, 4 units in 1");
  EXPECT_EQ(text(4, 300), "18 of a gate, 12 units in 3");
  EXPECT_EQ(text(4, 28), "2 of a gate, 0 units in 0");
  EXPECT_EQ(text(4, 64), "4 of a gate, 0 units in 0");
  EXPECT_EQ(text(4, 45), "3 of a gate, 0 units in 0");
  EXPECT_EQ(text(3, 100), "7 of a gate, 0 units in 0");
  EXPECT_EQ(text(1, 1), "1 of a gate, 0 units in 0");
}

}  // namespace
}  // namespace poprt::kernels
