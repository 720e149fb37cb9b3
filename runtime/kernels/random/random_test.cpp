#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/kernel_test_tensors.hpp"
#include "runtime/kernels/random/mersenne_twister.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::FromValues;
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
