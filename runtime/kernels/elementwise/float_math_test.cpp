#include "runtime/kernels/elementwise/float_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace poprt::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Distance in units in the last place of the exact value, subnormal units below them.
double UlpError(float found, double exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0 : 1e9;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(found)) {
    if (found == rounded) return 0;
    // Rounding to infinity or to the greatest number is one step apart.
    return std::fabs(exact) > 3.402e38 && std::fabs(found) > 3.402e38F ? 1 : 1e9;
  }
  const int exponent = std::max(std::ilogb(std::max(std::fabs(exact), 1e-300)), -126);
  return std::fabs(static_cast<double>(found) - exact) / std::ldexp(1.0, exponent - 23);
}

struct MathCase {
  const char* name;
  float (*function)(float);
  double (*exact)(double);
  double low;
  double high;
  double max_ulps;
};

void PrintTo(const MathCase& c, std::ostream* out) { *out << c.name; }

class FloatMathTest : public ::testing::TestWithParam<MathCase> {};

TEST_P(FloatMathTest, ErrorIsBoundedOverAllFloats) {
  const MathCase& c = GetParam();
  double worst = 0;
  float worst_at = 0;
  for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32); word += 1009) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    const double wide = x;
    if (!std::isnan(x) && (wide < c.low || wide > c.high)) continue;
    const double error = UlpError(c.function(x), c.exact(wide));
    if (error > worst) {
      worst = error;
      worst_at = x;
    }
  }
  EXPECT_LE(worst, c.max_ulps) << "at " << worst_at;
}

INSTANTIATE_TEST_SUITE_P(
    All, FloatMathTest,
    ::testing::Values(MathCase{"Exp", [](float x) { return Exp(x); },
                               [](double x) { return std::exp(x); }, -1e39, 1e39, 1.5},
                      MathCase{"Expm1", [](float x) { return Expm1NonPositive(x); },
                               [](double x) { return std::expm1(x); }, -1e39, 0, 2.0},
                      MathCase{"Log", [](float x) { return Log(x); },
                               [](double x) { return std::log(x); }, -1e39, 1e39, 1.5},
                      MathCase{"Log1p", [](float x) { return Log1pUnit(x); },
                               [](double x) { return std::log1p(x); }, 0, 1, 1.5},
                      MathCase{"Sin", [](float x) { return Sin(x); },
                               [](double x) { return std::sin(x); }, -1e39, 1e39, 0.502},
                      MathCase{"Cos", [](float x) { return Cos(x); },
                               [](double x) { return std::cos(x); }, -1e39, 1e39, 0.502},
                      MathCase{"Tan", [](float x) { return Tan(x); },
                               [](double x) { return std::tan(x); }, -1e39, 1e39, 0.51},
                      MathCase{"Atan", [](float x) { return Atan(x); },
                               [](double x) { return std::atan(x); }, -1e39, 1e39, 2.0},
                      MathCase{"Asin", [](float x) { return Asin(x); },
                               [](double x) { return std::asin(x); }, -1e39, 1e39, 2.1},
                      MathCase{"Acos", [](float x) { return Acos(x); },
                               [](double x) { return std::acos(x); }, -1e39, 1e39, 2.0},
                      MathCase{"Sinh", [](float x) { return Sinh(x); },
                               [](double x) { return std::sinh(x); }, -1e39, 1e39, 0.51},
                      MathCase{"Cosh", [](float x) { return Cosh(x); },
                               [](double x) { return std::cosh(x); }, -1e39, 1e39, 0.51},
                      MathCase{"Asinh", [](float x) { return Asinh(x); },
                               [](double x) { return std::asinh(x); }, -1e39, 1e39, 0.51},
                      MathCase{"Acosh", [](float x) { return Acosh(x); },
                               [](double x) { return std::acosh(x); }, -1e39, 1e39, 0.51},
                      MathCase{"Atanh", [](float x) { return Atanh(x); },
                               [](double x) { return std::atanh(x); }, -1e39, 1e39, 0.51},
                      MathCase{"Erf", [](float x) { return Erf(x); },
                               [](double x) { return std::erf(x); }, -1e39, 1e39, 2.0},
                      MathCase{"Tanh", [](float x) { return Tanh(x); },
                               [](double x) { return std::tanh(x); }, -1e39, 1e39, 2.0},
                      MathCase{"Sigmoid", [](float x) { return Sigmoid(x); },
                               [](double x) { return 1 / (1 + std::exp(-x)); }, -1e39, 1e39, 2.5},
                      MathCase{"Softplus", [](float x) { return Softplus(x); },
                               [](double x) {
                                 return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
                               },
                               -1e39, 1e39, 2.5},
                      MathCase{"Floor", [](float x) { return Floor(x); },
                               [](double x) { return std::floor(x); }, -1e39, 1e39, 0},
                      MathCase{"Ceil", [](float x) { return Ceil(x); },
                               [](double x) { return std::ceil(x); }, -1e39, 1e39, 0},
                      MathCase{"RoundEven", [](float x) { return RoundEven(x); },
                               [](double x) { return std::nearbyint(x); }, -1e39, 1e39, 0}),
    [](const auto& instance) { return instance.param.name; });

TEST(FloatMathTest, SpecialValues) {
  EXPECT_EQ(Exp(0.0F), 1.0F);
  EXPECT_EQ(Exp(-kInf), 0.0F);
  EXPECT_EQ(Exp(kInf), kInf);
  EXPECT_EQ(Exp(-103.0F), static_cast<float>(std::exp(-103.0)));
  EXPECT_EQ(Log(1.0F), 0.0F);
  EXPECT_EQ(Log(0.0F), -kInf);
  EXPECT_EQ(Log(-0.0F), -kInf);
  EXPECT_EQ(Log(kInf), kInf);
  EXPECT_TRUE(std::isnan(Log(-1.0F)));
  EXPECT_TRUE(std::isnan(Log(kNan)));
  EXPECT_EQ(Erf(kInf), 1.0F);
  EXPECT_EQ(Erf(-kInf), -1.0F);
  EXPECT_TRUE(std::signbit(Sin(-0.0F)));
  EXPECT_EQ(Sin(1e-40F), 1e-40F);
  EXPECT_EQ(Cos(0.0F), 1.0F);
  EXPECT_TRUE(std::isnan(Sin(kInf)));
  EXPECT_TRUE(std::isnan(Cos(kNan)));
  EXPECT_TRUE(std::signbit(Tan(-0.0F)));
  EXPECT_TRUE(std::isnan(Tan(kInf)));
  EXPECT_EQ(Atan(kInf), static_cast<float>(std::atan(INFINITY)));
  EXPECT_TRUE(std::signbit(Atan(-0.0F)));
  EXPECT_TRUE(std::signbit(Asin(-0.0F)));
  EXPECT_EQ(Asin(1.0F), static_cast<float>(std::asin(1.0)));
  EXPECT_TRUE(std::isnan(Asin(1.5F)));
  EXPECT_EQ(Acos(1.0F), 0.0F);
  EXPECT_EQ(Acos(-1.0F), static_cast<float>(std::acos(-1.0)));
  EXPECT_TRUE(std::isnan(Acos(-1.5F)));
  EXPECT_EQ(Sinh(-kInf), -kInf);
  EXPECT_TRUE(std::signbit(Sinh(-0.0F)));
  EXPECT_EQ(Cosh(-kInf), kInf);
  EXPECT_EQ(Asinh(-kInf), -kInf);
  EXPECT_TRUE(std::signbit(Asinh(-0.0F)));
  EXPECT_EQ(Acosh(1.0F), 0.0F);
  EXPECT_EQ(Acosh(kInf), kInf);
  EXPECT_TRUE(std::isnan(Acosh(0.5F)));
  EXPECT_EQ(Atanh(-1.0F), -kInf);
  EXPECT_TRUE(std::isnan(Atanh(kInf)));
  EXPECT_EQ(Tanh(kInf), 1.0F);
  EXPECT_EQ(Tanh(-kInf), -1.0F);
  EXPECT_TRUE(std::signbit(Tanh(-0.0F)));
  EXPECT_EQ(Sigmoid(-kInf), 0.0F);
  EXPECT_EQ(Sigmoid(kInf), 1.0F);
  EXPECT_TRUE(std::signbit(Ceil(-0.25F)));
  EXPECT_TRUE(std::signbit(Floor(-0.0F)));
  EXPECT_EQ(RoundEven(2.5), 2.0);
  EXPECT_EQ(RoundEven(-1.5), -2.0);
}

TEST(FloatMathTest, PowersMatchTheLibrary) {
  double worst = 0;
  for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32); word += 100003) {
    const auto base = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    for (const double exponent : {0.0, 0.5, 1.0, 3.0, -1.0, -2.5, 0.75, 1e-3, 7.0, 1e9, -0.2}) {
      if (!IsPlainPower(base, exponent)) continue;
      worst = std::max(worst, UlpError(PowerInRange(base, exponent),
                                       std::pow(static_cast<double>(base), exponent)));
    }
  }
  EXPECT_LE(worst, 0.51);
  EXPECT_EQ(PowerInRange(-3.0F, 3.0), -27.0F);
  EXPECT_EQ(PowerInRange(0.0F, -1.0), kInf);
  EXPECT_EQ(PowerInRange(-0.0F, -1.0), -kInf);
  EXPECT_TRUE(std::signbit(PowerInRange(-0.0F, 3.0)));
  EXPECT_FALSE(std::signbit(PowerInRange(-0.0F, 2.0)));
  EXPECT_FALSE(IsPlainPower(-2.0F, 0.5));
  EXPECT_FALSE(IsPlainPower(kInf, 2.0));
  EXPECT_FALSE(IsPlainPower(kNan, 0.0));
}

/// Where the reduced angle is smallest relative to the angle, and around the bound of reduction.
TEST(FloatMathTest, AnglesNearMultiplesOfPi) {
  double worst = 0;
  const auto check = [&](float x) {
    const double wide = x;
    worst = std::max({worst, UlpError(Sin(x), std::sin(wide)), UlpError(Cos(x), std::cos(wide)),
                      UlpError(Sin(-x), -std::sin(wide))});
  };
  for (int quarters = 1; quarters < 340000; ++quarters) {
    check(static_cast<float>(quarters * 1.57079632679489661923));
  }
  check(std::nextafter(0x1p19F, 0.0F));
  check(0x1p19F);
  EXPECT_LE(worst, 0.502);
}

}  // namespace
}  // namespace poprt::kernels
