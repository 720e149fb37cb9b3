#include "runtime/kernels/fused/fused_elementwise.hpp"

#include <cmath>
#include <functional>

#include "runtime/kernels/fused/softmax_columns.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

struct Reference {
  std::string name;
  int operands;
  std::function<double(double, double)> value;
};

/// Functions whose results stay moderate for moderate operands, so that trees of them do.
const std::vector<Reference>& References() {
  static const std::vector<Reference> references{
      {"add", 2, [](double a, double b) { return a + b; }},
      {"sub", 2, [](double a, double b) { return a - b; }},
      {"mul", 2, [](double a, double b) { return a * b; }},
      {"max", 2, [](double a, double b) { return std::max(a, b); }},
      {"min", 2, [](double a, double b) { return std::min(a, b); }},
      {"at_least", 2, [](double a, double b) { return std::max(a, b); }},
      {"at_most", 2, [](double a, double b) { return std::min(a, b); }},
      {"slope", 2, [](double a, double b) { return a < 0 ? a * b : a; }},
      {"neg", 1, [](double a, double) { return -a; }},
      {"abs", 1, [](double a, double) { return std::abs(a); }},
      {"erf", 1, [](double a, double) { return std::erf(a); }},
      {"relu", 1, [](double a, double) { return ReferenceActivation("relu", a); }},
      {"sigmoid", 1, [](double a, double) { return ReferenceActivation("sigmoid", a); }},
      {"tanh", 1, [](double a, double) { return std::tanh(a); }},
      {"gelu_erf", 1, [](double a, double) { return ReferenceActivation("gelu_erf", a); }},
      {"gelu_tanh", 1, [](double a, double) { return ReferenceActivation("gelu_tanh", a); }},
      {"hardswish", 1, [](double a, double) { return ReferenceActivation("hardswish", a); }},
      {"silu", 1, [](double a, double) { return ReferenceActivation("silu", a); }},
  };
  return references;
}

/// The operand's elements, repeated to `shape`.
Values BroadcastTo(const Tensor& tensor, const Shape& shape) {
  const Values own = ToValues(tensor);
  Values values;
  for (std::int64_t i = 0; i < ElementCount(shape); ++i) {
    values.push_back(own[BroadcastIndex(shape, tensor.shape(), i)]);
  }
  return values;
}

/// Some extents become 1, and leading ones may go.
Shape Narrowed(Random& random, Shape shape) {
  if (random.Flip()) return shape;
  for (auto& extent : shape) {
    if (random.Flip()) extent = 1;
  }
  const std::int64_t dropped = random.Int(0, static_cast<std::int64_t>(shape.size()));
  return {shape.begin() + dropped, shape.end()};
}

TEST(FusedElementwise, AgreesWithTheFunctionsOnRandomTrees) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const ElementType element = random.FloatType();
    Shape shape(static_cast<std::size_t>(random.Int(0, 4)));
    for (auto& extent : shape) extent = random.Int(1, 6);
    if (!shape.empty() && random.Flip()) {
      const auto last = static_cast<std::int64_t>(shape.size()) - 1;
      shape[static_cast<std::size_t>(random.Int(0, last))] = random.Int(40, 700);
      if (random.Flip()) shape.back() = 16;  // an image in blocks of channels
    }
    std::vector<Tensor> inputs;
    std::vector<Values> values;
    for (std::int64_t i = random.Int(1, 4); i > 0; --i) {
      inputs.push_back(random.Values({element, Narrowed(random, shape)}));
      values.push_back(BroadcastTo(inputs.back(), shape));
    }
    Floats constants;
    for (std::int64_t i = random.Int(0, 2); i > 0; --i) {
      constants.push_back(static_cast<float>(random.Int(-3, 3)) / 4);
      values.emplace_back(values[0].size(), static_cast<double>(constants.back()));
    }
    Strings functions;
    Ints operands;
    for (std::int64_t i = random.Int(1, 9); i > 0; --i) {
      const Reference& function = random.Of(References());
      functions.push_back(function.name);
      const auto known = static_cast<std::int64_t>(values.size()) - 1;
      const auto a = random.Int(std::max<std::int64_t>(0, known - 3), known);
      const auto b = random.Int(0, known);
      operands.push_back(a);
      if (function.operands == 2) operands.push_back(b);
      Values result;
      for (std::size_t k = 0; k < values[0].size(); ++k) {
        result.push_back(function.value(values[static_cast<std::size_t>(a)][k],
                                        values[static_cast<std::size_t>(b)][k]));
      }
      values.push_back(result);
    }
    const Attributes attributes{
        {"constants", constants}, {"functions", functions}, {"operands", operands}};
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      const Tensor found = RunPacked(BindFusedElementwise, inputs, {element, shape}, attributes,
                                     *loops, static_cast<int>(random.Int(1, 2)));
      // Every function errs by some ulp of values around 1, which products may enlarge.
      ExpectClose(found, values.back(), 300, 1);
    }
  }
}

/// The rows that repeat a cycle are still short, and every channel repeats another one.
TEST(FusedElementwise, PiecesGoAcrossCyclesOfShortRows) {
  const Shape shape{2, 3, 8, 4};
  Random random(1);
  const Tensor x = random.Values({ElementType::kFloat32, shape});
  const Tensor y = random.Values({ElementType::kFloat32, {1, 3, 1, 4}});
  const Values flat = ToValues(x);
  const Values repeated = BroadcastTo(y, shape);
  Values sums;
  for (std::size_t i = 0; i < flat.size(); ++i) sums.push_back(flat[i] + repeated[i]);
  const Attributes attributes{{"functions", Strings{"add"}}, {"operands", Ints{0, 1}}};
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const Tensor found = RunPacked(BindFusedElementwise, {x, y}, x.type(), attributes, *loops, 1);
    ExpectClose(found, sums, 2, 1);
  }
}

/// Integers as values of the type, from -128 to 255.
Tensor RandomBytes(Random& random, ElementType element, const Shape& shape) {
  Values values(static_cast<std::size_t>(ElementCount(shape)));
  const bool is_signed = element == ElementType::kInt8;
  for (double& value : values) {
    value = static_cast<double>(is_signed ? random.Int(-128, 127) : random.Int(0, 255));
  }
  return FromValues(element, shape, values);
}

/// (a - 3) / 4 + b as bytes: no step rounds but the last.
TEST(FusedElementwise, ReadsAndWritesBytes) {
  const std::vector<ElementType> bytes{ElementType::kInt8, ElementType::kUint8};
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Shape shape{random.Int(1, 4), random.Int(1, 5), random.Int(1, 300)};
    if (random.Flip()) shape.back() = 16;
    const Tensor a = RandomBytes(random, random.Of(bytes), Narrowed(random, shape));
    const ElementType floats = random.FloatType();
    const Tensor b = random.Flip() ? RandomBytes(random, random.Of(bytes), Narrowed(random, shape))
                                   : RandomBytes(random, floats, Narrowed(random, shape));
    const ElementType to = random.Flip() ? random.Of(bytes) : floats;
    const bool to_bytes = to != floats;
    const std::int64_t point = random.Int(0, 127);
    const double low = to == ElementType::kInt8 ? -128 : 0;
    const auto left = BroadcastTo(a, shape);
    const auto right = BroadcastTo(b, shape);
    Values wanted;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double value = (left[i] - 3) / 4 + right[i];
      const double rounded = std::nearbyint(value) + static_cast<double>(point);
      wanted.push_back(to_bytes ? std::clamp(rounded, low, low + 255) : value);
    }
    const Attributes attributes{{"constants", Floats{3, 4}},
                                {"functions", Strings{"sub", "div", "add"}},
                                {"operands", Ints{0, 2, 4, 3, 5, 1}},
                                {"point", point}};
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      const Tensor found = RunPacked(BindFusedElementwise, {a, b}, {to, shape}, attributes, *loops,
                                     static_cast<int>(random.Int(1, 2)));
      EXPECT_EQ(ToValues(found), wanted);
    }
  }
}

/// Few bytes pass through the functions, many are looked up.
TEST(FusedElementwise, ManyBytesBecomeWhatFewDo) {
  constexpr std::int64_t kFew = 700;
  constexpr std::int64_t kTimes = 3;
  const std::vector<ElementType> bytes{ElementType::kInt8, ElementType::kUint8};
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const ElementType from = random.Of(bytes);
    const ElementType to = random.Of(bytes);
    const Attributes attributes{
        {"constants", Floats{static_cast<float>(random.Int(0, 127)), 0.05F, 0.01F}},
        {"functions", Strings{"sub", "mul", "hardswish", "div"}},
        {"operands", Ints{0, 1, 4, 2, 5, 6, 3}},
        {"point", random.Int(0, 127)}};
    const Tensor x = RandomBytes(random, from, {kTimes, kFew});
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      const Tensor many =
          RunPacked(BindFusedElementwise, {x}, {to, x.shape()}, attributes, *loops, 2);
      for (std::int64_t i = 0; i < kTimes; ++i) {
        const Tensor part({from, {kFew}}, x.data() + i * kFew);
        const Tensor few =
            RunPacked(BindFusedElementwise, {part}, {to, {kFew}}, attributes, *loops, 1);
        EXPECT_EQ(std::memcmp(many.data() + i * kFew, few.data(), kFew), 0);
      }
    }
  }
}

TEST(FusedElementwise, WhatIsNoNumberBecomesTheLowestByte) {
  const std::vector<float> x{std::numeric_limits<float>::quiet_NaN(), 1e9F, -1e9F, 2.5F};
  const Tensor input({ElementType::kFloat32, {4}}, x.data());
  const Attributes attributes{
      {"functions", Strings{"abs"}}, {"operands", Ints{0}}, {"point", std::int64_t{7}}};
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    EXPECT_THAT(ToValues(RunPacked(BindFusedElementwise, {input}, {ElementType::kInt8, {4}},
                                   attributes, *loops)),
                ::testing::ElementsAre(-128, 127, 127, 9));
  }
}

TEST(FusedElementwise, FunctionsOfPositiveNumbersAndTheirLimits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Shape shape{11};
  const std::vector<float> x{0.0F,  1.0F,  0.3F,      2.5F, 100.0F, 88.5F,
                             1e-3F, 30.0F, kInfinity, nan,  7.0F};
  const Tensor input({ElementType::kFloat32, shape}, x.data());
  const std::vector<Reference> functions{
      {"exp", 1, [](double a, double) { return std::exp(a); }},
      {"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
      {"round", 1, [](double a, double) { return std::nearbyint(a); }},
      {"half", 1,
       [](double a, double) {
         return static_cast<double>(static_cast<float>(Float16(static_cast<float>(a))));
       }},
      {"reciprocal", 1, [](double a, double) { return 1 / a; }},
      {"relu", 1, [](double a, double) { return a; }},
      {"max", 2, [](double a, double b) { return std::isnan(a) ? a : std::max(a, b); }},
      {"min", 2, [](double a, double b) { return std::isnan(a) ? a : std::min(a, b); }},
      {"div", 2, [](double a, double b) { return a / b; }},
      {"at_most", 2, [](double a, double b) { return std::isnan(a) ? a : std::min(a, b); }},
  };
  for (const Reference& function : functions) {
    SCOPED_TRACE(function.name);
    Values wanted;
    for (const float value : x) {
      wanted.push_back(
          static_cast<double>(static_cast<float>(function.value(static_cast<double>(value), 2.0))));
    }
    const Attributes attributes{{"constants", Floats{2.0F}},
                                {"functions", Strings{function.name}},
                                {"operands", function.operands == 2 ? Ints{0, 1} : Ints{0}}};
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      ExpectClose(RunPacked(BindFusedElementwise, {input}, input.type(), attributes, *loops),
                  wanted, 4);
    }
  }
  // Small results of exp are subnormal numbers.
  const std::vector<float> low{-90.0F, -100.0F, -200.0F, -kInfinity};
  const Tensor small({ElementType::kFloat32, {4}}, low.data());
  for (const InnerLoops* loops : AllInnerLoops()) {
    const Tensor found = RunPacked(BindFusedElementwise, {small}, small.type(),
                                   {{"functions", Strings{"exp"}}, {"operands", Ints{0}}}, *loops);
    const Values values = ToValues(found);
    EXPECT_NEAR(values[0], std::exp(-90.0), 1e-44);
    EXPECT_NEAR(values[1], std::exp(-100.0), 2e-45);
    EXPECT_EQ(values[2], 0);
    EXPECT_EQ(values[3], 0);
  }
}

TEST(SoftmaxColumns, AgreesWithTheDefinitionOnRandomShapes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::int64_t outer = random.Int(1, 3);
    const std::int64_t length = random.Int(1, random.Flip() ? 9 : 150);
    const std::int64_t inner = random.Flip() ? random.Int(1, 30) : random.Int(500, 1100);
    const Tensor x = random.Values({ElementType::kFloat32, {outer, length, inner}});
    const Values values = ToValues(x);
    const auto at = [&](std::int64_t o, std::int64_t k, std::int64_t i) {
      return static_cast<std::size_t>((o * length + k) * inner + i);
    };
    Values wanted(values.size());
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < length; ++k) sum += std::exp(values[at(o, k, i)]);
        for (std::int64_t k = 0; k < length; ++k) {
          wanted[at(o, k, i)] = std::exp(values[at(o, k, i)]) / sum;
        }
      }
    }
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      ExpectClose(RunPacked(BindSoftmaxColumns, {x}, x.type(), {{"axis", std::int64_t{1}}}, *loops,
                            static_cast<int>(random.Int(1, 2))),
                  wanted, 16);
    }
  }
}

TEST(FusedElementwise, BindRejectsWhatDoesNotFit) {
  const auto error = [](const TensorType& x, const TensorType& y, const Attributes& attributes) {
    return BindError("fused_elementwise", {x}, {y}, attributes);
  };
  const TensorType x{ElementType::kFloat32, {2, 3}};
  const Strings abs{"abs"};
  EXPECT_EQ(error(x, x, {{"functions", abs}, {"operands", Ints{0}}}), "");
  EXPECT_EQ(error(x, x, {{"functions", Strings{"cosh"}}, {"operands", Ints{0}}}),
            "attribute 'functions' names \"cosh\", which does not exist");
  EXPECT_EQ(error(x, x, {{"functions", abs}, {"operands", Ints{1}}}),
            "attribute 'operands' is [1], number 0 must exist and be below 1");
  EXPECT_EQ(error(x, x, {{"functions", Strings{"add"}}, {"operands", Ints{0}}}),
            "attribute 'operands' is [0], number 1 must exist and be below 1");
  EXPECT_EQ(error(x, x, {{"functions", abs}, {"operands", Ints{0, 0}}}),
            "attribute 'operands' has 2 numbers, the functions read 1");
  EXPECT_EQ(error(x, x, {}), "attribute 'functions' is empty");
  EXPECT_EQ(error(x, {ElementType::kFloat32, {3}}, {{"functions", abs}, {"operands", Ints{0}}}),
            "an input is float32[2, 3], which does not broadcast to the output, float32[3]");
  EXPECT_EQ(error(x, {ElementType::kFloat16, {2, 3}}, {{"functions", abs}, {"operands", Ints{0}}}),
            "an input is float32[2, 3], expected elements of type float16");
  const TensorType bytes{ElementType::kUint8, {2, 3}};
  const auto to_bytes = [&](std::int64_t point) {
    return error(x, bytes, {{"functions", abs}, {"operands", Ints{0}}, {"point", point}});
  };
  EXPECT_EQ(to_bytes(255), "");
  EXPECT_EQ(to_bytes(256), "attribute 'point' is 256, which is no uint8");
  EXPECT_EQ(BindError("fused_elementwise", {x, {ElementType::kFloat16, {2, 3}}}, {bytes},
                      {{"functions", Strings{"add"}}, {"operands", Ints{0, 1}}}),
            "an input is float16[2, 3], expected elements of type float32");
}

}  // namespace
}  // namespace poprt::kernels::testing
