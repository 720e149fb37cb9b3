#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/inner_loops_testing.hpp"
#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"
#include "runtime/kernels/recurrent/recurrent_kernels.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/kernels/recurrent/recurrent_plan.hpp"
#include "runtime/kernels/recurrent/recurrent_testing.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::CallOf;
using testing::Draw;
using testing::ExpectClose;
using testing::ExpectReference;
using testing::ForSeeds;
using testing::FromValues;
using testing::kRecurrentKinds;
using testing::kRecurrentSeed;
using testing::LargeCase;
using testing::NameOf;
using testing::Packed;
using testing::RandomSpecials;
using testing::RandomTensor;
using testing::RunWithThreads;
using testing::ToValues;
using testing::TunedNameOf;
using testing::Unscaled;
using testing::Values;
using enum ElementType;
using Case = testing::RecurrentCase;
using Function = RecurrentActivation::Function;

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

TEST(RecurrentTest, MatchesTheEquations) {
  ForSeeds(300, [](std::mt19937& random) {
    const Case test = RandomCase(random);
    std::vector<TensorType> outputs = test.outputs();
    while (outputs.size() > 1 && random() % 3 == 0) outputs.pop_back();
    if (random() % 3 == 0) outputs[random() % outputs.size()] = {};
    ExpectReference(test, RunOnce(NameOf(test.kind), test.inputs, outputs, test.attributes));
  });
}

/// `tensor` with its axes in another order.
Tensor Transposed(const Tensor& tensor, const Ints& perm) {
  Shape shape;
  for (const std::int64_t axis : perm) {
    shape.push_back(tensor.shape()[static_cast<std::size_t>(axis)]);
  }
  return RunOnce("Transpose", {tensor}, {{tensor.element(), shape}}, {{"perm", perm}}).front();
}

TEST(RecurrentTest, AxesComeInAnyOrder) {
  ForSeeds(100, [](std::mt19937& random) {
    const Case test = RandomCase(random);
    const auto plain =
        RunOnce(TunedNameOf(test.kind), test.inputs, test.outputs(), test.attributes);
    Case ordered = test;
    Ints perm{0, 1, 2};
    std::ranges::shuffle(perm, random);
    perm.push_back(3);
    ordered.attributes.set("y_perm", perm);
    if (random() % 2 == 0) {
      ordered.attributes.set("x_perm", Ints{1, 0, 2});
      ordered.inputs[0] = Transposed(test.inputs[0], {1, 0, 2});
    }
    auto found =
        RunOnce(TunedNameOf(test.kind), ordered.inputs, ordered.outputs(), ordered.attributes);
    EXPECT_EQ(found[0], Transposed(plain[0], perm));
    for (std::size_t i = 1; i < plain.size(); ++i) EXPECT_EQ(found[i], plain[i]);
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

/// A case whose W and R, or R alone, are scaled has the results of the numbers that they stand for.
void ExpectScaledAsNumbers(const Case& test, std::initializer_list<std::size_t> inputs) {
  Case numbers = Packed(test);
  Case scaled = numbers;
  for (const std::size_t w : inputs) {
    Tensor& panels = numbers.inputs[w];
    scaled.inputs[w] = testing::Scaled(panels);
    panels = Unscaled(scaled.inputs[w], panels.shape()[1]);
  }
  for (const InnerLoops* loops : testing::AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const auto wanted =
        RunWithThreads(BindRecurrent(numbers.kind, CallOf(numbers), *loops), numbers, 1);
    const BoundKernel kernel = BindRecurrent(scaled.kind, CallOf(scaled), *loops);
    const auto alone = RunWithThreads(kernel, scaled, 1);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      ExpectClose(alone[i], ToValues(wanted[i]), testing::kOrdinaryUlps, 2);
    }
    for (const int threads : {2, 3}) EXPECT_EQ(RunWithThreads(kernel, scaled, threads), alone);
  }
}

Case OneStep(RecurrentKind kind) {
  Case test = LargeCase(kind, "forward", 1, kFloat32, 30, 102);
  test.shape.steps = 1;
  std::mt19937 random(kRecurrentSeed);
  test.inputs[0] = RandomTensor(random, kFloat32, {1, 1, 30}, -1, 1);
  test.inputs[4] = Tensor();
  return test;
}

TEST(RecurrentTest, WeightsMayBeScaled) {
  for (const RecurrentKind kind : kRecurrentKinds) {
    SCOPED_TRACE(NameOf(kind));
    // LSTM's 20 units share panels; 102 leave a block of 38 rows.
    ExpectScaledAsNumbers(LargeCase(kind, "bidirectional", 1, kFloat32, 30, 102), {2});
    ExpectScaledAsNumbers(LargeCase(kind, "reverse", 1, kFloat32, 9, 20), {2});
    ExpectScaledAsNumbers(OneStep(kind), {1, 2});
  }
  Case linear = LargeCase(RecurrentKind::kGru, "bidirectional", 1, kFloat32, 30, 102);
  linear.attributes.set("linear_before_reset", std::int64_t{1});
  ExpectScaledAsNumbers(linear, {2});
}

TEST(RecurrentTest, ScaledWeightsMeetAnyState) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float initial : {1e35F, -kInfinity, std::nanf("")}) {
    SCOPED_TRACE(initial);
    Case test = OneStep(RecurrentKind::kRnn);
    test.attributes.set("activations", Strings{"Affine"});
    test.attributes.set("activation_alpha", Floats{0.01F});
    test.attributes.set("activation_beta", Floats{0});
    Tensor h({kFloat32, {1, 1, 102}});
    std::ranges::fill(h.as_mutable<float>(), 0.1F);
    h.as_mutable<float>()[70] = initial;
    test.inputs[5] = h;
    ExpectScaledAsNumbers(test, {2});
  }
}

TEST(RecurrentTest, ScaledWeightsAreForOneRow) {
  const auto error_of = [](std::int64_t batch, std::size_t weights) {
    Case test = Packed(LargeCase(RecurrentKind::kGru, "forward", batch, kFloat32, 30, 20));
    test.inputs[weights] = testing::Scaled(test.inputs[weights]);
    const KernelCall call = CallOf(test);
    return BindError("GRU", call.inputs, call.outputs, call.attributes);
  };
  EXPECT_EQ(error_of(1, 2), "");
  EXPECT_EQ(error_of(2, 2), "R of scaled panels is for one row of float32");
  EXPECT_EQ(error_of(1, 1), "W of scaled panels is for one row of float32");
}

/// With a matrix unit, emulated where there is none. What is computed is `test`, `given` is the
/// same for the kernel, with packed weights.
void ExpectSameOnUnit(const Case& test, const Case& given) {
  for (const InnerLoops* loops : testing::AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    SCOPED_TRACE(loops->instruction_set);
    ASSERT_TRUE(testing::UsesUnit(RecurrentPlan(test.kind, CallOf(test), *loops)));
    const BoundKernel kernel = BindRecurrent(given.kind, CallOf(given), *loops);
    const auto alone = RunWithThreads(kernel, given, 1);
    ExpectReference(test, alone, testing::kUnitUlps);
    for (const int threads : {2, 3}) EXPECT_EQ(RunWithThreads(kernel, given, threads), alone);
  }
}
void ExpectSameOnUnit(const Case& test) { ExpectSameOnUnit(test, test); }

TEST(RecurrentTest, MoreRowsAndPanelsThanTheMatrixUnitTakesAtOnce) {
  // 104 panels, in two parts of the depth.
  ExpectSameOnUnit(LargeCase(RecurrentKind::kLstm, "forward", 4, kFloat32, 800, 416));
  Case long_chunk = LargeCase(RecurrentKind::kGru, "forward", 1, kFloat32, 160, 64);
  long_chunk.shape.steps = 600;
  std::mt19937 random(kRecurrentSeed);
  long_chunk.inputs[0] = RandomTensor(random, kFloat32, {600, 1, 160}, -1, 1);
  long_chunk.attributes.set("block_sizes", Ints{600});
  ExpectSameOnUnit(long_chunk);
}

TEST(RecurrentTest, StatesOfManySequencesMeetTheMatrixUnit) {
  for (const RecurrentKind kind : kRecurrentKinds) {
    // Of 8 and 16 sequences, of which one thread takes all at once, and of tiles that are not full.
    for (const std::int64_t batch : {8, 16, 37}) {
      for (const std::int64_t hidden : {48, 52}) {
        SCOPED_TRACE(std::string(NameOf(kind)) + " of batch " + std::to_string(batch) + ", " +
                     std::to_string(hidden) + " units");
        const Case test = LargeCase(kind, "bidirectional", batch, kFloat32, 96, hidden);
        for (const InnerLoops* loops : testing::AllInnerLoops()) {
          if (loops->matrix_unit == nullptr) continue;
          EXPECT_TRUE(RecurrentPlan(kind, CallOf(test), *loops).SplitsState());
          if (batch > 16 || hidden == 52 || kind == RecurrentKind::kRnn) continue;
          const RecurrentPlan packed(kind, CallOf(Packed(test)), *loops);
          EXPECT_LE(packed.sequences, batch / 2);
          EXPECT_EQ(packed.sequences_alone, batch);
        }
        ExpectSameOnUnit(test);
        ExpectSameOnUnit(test, Packed(test));
        Case linear = test;
        linear.attributes.set("linear_before_reset", std::int64_t{1});
        if (kind == RecurrentKind::kGru) ExpectSameOnUnit(linear, Packed(linear));
      }
    }
  }
  const Case half = LargeCase(RecurrentKind::kLstm, "forward", 8, kFloat16, 40, 52);
  ExpectSameOnUnit(half, Packed(half));
}

TEST(RecurrentTest, StatesThatAreNotFiniteLeaveOtherSequencesAlone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const RecurrentKind kind : kRecurrentKinds) {
    for (const std::int64_t batch : {6, 13, 16, 20}) {
      SCOPED_TRACE(std::string(NameOf(kind)) + " of batch " + std::to_string(batch));
      Case test = LargeCase(kind, "forward", batch, kFloat32, 96, 48);
      const auto state = test.inputs[5].as_mutable<float>();
      state[0] = kInfinity;
      state[5 * 48 + 47] = std::nanf("");
      state[static_cast<std::size_t>(batch - 1) * 48 + 20] = 3.4e38F;  // infinite in bfloat16
      ExpectSameOnUnit(test, Packed(test));
      test.inputs[2].as_mutable<float>()[100] = -kInfinity;  // R
      ExpectSameOnUnit(test, Packed(test));
    }
  }
}

TEST(RecurrentTest, StatesWhoseProductsOverflowAreInfinite) {
  for (const std::int64_t batch : {8, 20}) {
    Case test = LargeCase(RecurrentKind::kGru, "forward", batch, kFloat32, 96, 48);
    test.attributes.set("linear_before_reset", std::int64_t{1});
    std::ranges::fill(test.inputs[4].as_mutable<std::int32_t>(), 1);
    test.inputs[5].as_mutable<float>()[3 * 48] = 1.007e38F;
    test.inputs[2].as_mutable<float>()[0] = 1e5F;  // of the update gate, which is 1 then
    for (const InnerLoops* loops : testing::AllInnerLoops()) {
      const BoundKernel kernel = BindRecurrent(test.kind, CallOf(test), *loops);
      const auto found = RunWithThreads(kernel, test, 1);
      EXPECT_EQ(found[1].as<float>()[3 * 48], 1.007e38F) << loops->instruction_set;
    }
  }
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
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"y_perm", Ints{0, 3, 1, 2}}}),
            "attribute 'y_perm' is no order of 4 axes whose last one stays");
  EXPECT_EQ(BindError("RNN", inputs, outputs, {{"x_perm", Ints{0, 0, 2}}}),
            "attribute 'x_perm' is no order of 3 axes whose last one stays");
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
