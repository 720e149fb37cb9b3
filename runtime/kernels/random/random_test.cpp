#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/random/mersenne_twister.hpp"

namespace poprt::kernels {
namespace {

using testing::AnyShape;
using testing::BindError;
using testing::Draw;
using testing::ExpectClose;
using testing::ForSeeds;
using testing::FromValues;
using testing::RandomSpecials;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

TEST(RandomTest, NumbersOfRandomState) {
  MersenneTwister zero(0);
  EXPECT_EQ(zero.NextUniform(), 0.5488135039273248);
  EXPECT_EQ(zero.NextUniform(), 0.7151893663724195);
  MersenneTwister seven(7);
  for (int i = 0; i < 1999; ++i) seven.NextUniform();
  EXPECT_EQ(seven.NextUniform(), 0.6485816947897555);
}

TEST(RandomTest, Uniform) {
  const Attributes attributes{
      {"shape", Ints{2, 2}}, {"low", -1.0F}, {"high", 3.0F}, {"seed", 0.0F}};
  const Tensor found = Run1("RandomUniform", {}, {kFloat64, {2, 2}}, attributes);
  EXPECT_EQ(ToValues(found), (Values{-1 + 4 * 0.5488135039273248, -1 + 4 * 0.7151893663724195,
                                     -1 + 4 * 0.6027633760716439, -1 + 4 * 0.5448831829968969}));
  EXPECT_EQ(found, Run1("RandomUniform", {}, {kFloat64, {2, 2}}, attributes));
  EXPECT_EQ(
      Run1("RandomUniform", {}, {kFloat16, {0}}, {{"shape", Ints{0}}, {"seed", 1.0F}}).count(), 0);
}

TEST(RandomTest, Normal) {
  const Tensor found =
      Run1("RandomNormal", {}, {kFloat64, {5}}, {{"shape", Ints{5}}, {"seed", 42.0F}});
  const Values wanted{0.4967141530112327, -0.13826430117118466, 0.6476885381006925,
                      1.5230298564080254, -0.23415337472333597};
  const Values values = ToValues(found);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-15);
  const Tensor moved = Run1("RandomNormal", {}, {kFloat32, {5}},
                            {{"shape", Ints{5}}, {"seed", 42.0F}, {"mean", 8.0F}, {"scale", 2.0F}});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(ToValues(moved)[i], 8 + 2 * wanted[i], 1e-6);
  }
}

/// The numbers in [0, 1), or of the standard normal distribution by the polar method.
Values Sequence(bool uniform, std::uint32_t seed, std::int64_t count) {
  MersenneTwister generator(seed);
  const auto size = static_cast<std::size_t>(count);
  Values values;
  while (values.size() < size) {
    const double u = generator.NextUniform();
    if (uniform) {
      values.push_back(u);
      continue;
    }
    const double x = 2 * u - 1;
    const double y = 2 * generator.NextUniform() - 1;
    const double square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    for (const double part : {y, x}) {
      values.push_back(part * std::sqrt(-2 * std::log(square) / square));
    }
  }
  values.resize(size);
  return values;
}

TEST(RandomTest, AnyShapeHoldsOneSequence) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(150, [&](std::mt19937& random) {
    const bool uniform = random() % 2 == 0;
    const ElementType element = kElements[random() % 4];
    const Shape shape = AnyShape(random);
    const std::int64_t seed = Draw(random, -5, 1000);
    const double offset = 0.25 * static_cast<double>(Draw(random, -20, 20));
    const double factor = 0.25 * static_cast<double>(Draw(random, 0, 20));
    Values wanted = Sequence(uniform, static_cast<std::uint32_t>(seed), ElementCount(shape));
    for (double& value : wanted) value = offset + factor * value;
    Attributes attributes{{"shape", Ints(shape)}, {"seed", static_cast<float>(seed)}};
    attributes.set(uniform ? "low" : "mean", static_cast<float>(offset));
    attributes.set(uniform ? "high" : "scale",
                   static_cast<float>(uniform ? offset + factor : factor));
    const char* const kernel = uniform ? "RandomUniform" : "RandomNormal";
    ExpectClose(Run1(kernel, {}, {element, shape}, attributes), wanted, 1, 1);
  });
}

/// One class after the other, until the sum of the odds exceeds what was drawn.
TEST(RandomTest, MultinomialMatchesTheDefinition) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  constexpr double kInf = std::numeric_limits<double>::infinity();
  ForSeeds(150, [&](std::mt19937& random) {
    const std::int64_t rows = Draw(random, 0, 5);
    const std::int64_t classes = Draw(random, 1, 9);
    const std::int64_t samples = Draw(random, 0, 30);
    const Tensor logs = RandomSpecials(random, kElements[random() % 4], {rows, classes}, -4, 4);
    const auto seed = static_cast<float>(Draw(random, 0, 1000));
    const ElementType output = random() % 2 == 0 ? kInt32 : kInt64;
    const Values found = ToValues(Run1("Multinomial", {logs}, {output, {rows, samples}},
                                       {{"sample_size", samples}, {"seed", seed}}));
    MersenneTwister generator(static_cast<std::uint32_t>(seed));
    const Values all = ToValues(logs);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto row = all.begin() + static_cast<std::int64_t>(i) / samples * classes;
      const auto odds = [&](std::int64_t at) { return std::exp(row[at]); };
      double sum = 0;
      for (std::int64_t at = 0; at < classes; ++at) sum += odds(at);
      const double drawn = generator.NextUniform() * sum;
      std::int64_t wanted = 0;
      for (double seen = odds(0); seen <= drawn && wanted + 1 < classes;) seen += odds(++wanted);
      if (sum > 0 && sum < kInf) {
        EXPECT_EQ(found[i], wanted) << "sample " << i;
      } else {
        // NaN or infinite odds say nothing, but a class it must be.
        EXPECT_TRUE(found[i] >= 0 && found[i] < static_cast<double>(classes)) << found[i];
      }
    }
  });
}

TEST(RandomTest, MultinomialDrawsByOdds) {
  const double none = -std::numeric_limits<double>::infinity();
  const Tensor logs = FromValues(kFloat32, {2, 3}, {0, none, std::log(3.0), none, 5, none});
  const Tensor found = Run1("Multinomial", {logs}, {kInt32, {2, 4000}},
                            {{"sample_size", std::int64_t{4000}}, {"seed", 3.0F}});
  Values counts(3);
  for (std::size_t i = 0; i < 4000; ++i) {
    counts[static_cast<std::size_t>(found.as<std::int32_t>()[i])] += 1;
    EXPECT_EQ(found.as<std::int32_t>()[4000 + i], 1);
  }
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[0], 1000, 120);
}

TEST(RandomTest, ChecksOperands) {
  const TensorType y{kFloat32, {2}};
  EXPECT_EQ(BindError("RandomUniform", {}, {y}, {{"shape", Ints{2}}, {"seed", 1.0F}}), "");
  EXPECT_EQ(BindError("RandomUniform", {}, {y}, {{"shape", Ints{2}}}),
            "attribute 'seed' is missing");
  EXPECT_NE(BindError("RandomNormal", {}, {y}, {{"shape", Ints{3}}, {"seed", 1.0F}}), "");
  EXPECT_NE(BindError("RandomNormal", {}, {y}, {{"shape", Ints{2}}, {"seed", NAN}}), "");
  EXPECT_NE(BindError("RandomNormal", {}, {{kInt32, {2}}}, {{"shape", Ints{2}}, {"seed", 1.0F}}),
            "");
  EXPECT_NE(BindError("Multinomial", {{kFloat32, {2, 0}}}, {{kInt32, {2, 1}}}, {{"seed", 1.0F}}),
            "");
}

}  // namespace
}  // namespace poprt::kernels
