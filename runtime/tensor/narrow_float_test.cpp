#include "runtime/tensor/narrow_float.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace poprt {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

/// A form as the specification tells it, independent of the code under test.
struct Form {
  std::string name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::vector<int> nans;
  std::vector<int> infinities;
  int largest;  // code of the largest number
  bool has_negative_zero;
};

const Form kE4M3FN{"e4m3fn", 4, 3, 7, {0x7F, 0xFF}, {}, 0x7E, true};
const Form kE4M3FNUZ{"e4m3fnuz", 4, 3, 8, {0x80}, {}, 0x7F, false};
const Form kE5M2{"e5m2", 5, 2, 15, {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}, {0x7C, 0xFC}, 0x7B, true};
const Form kE5M2FNUZ{"e5m2fnuz", 5, 2, 16, {0x80}, {}, 0x7F, false};
const Form kE2M1{"e2m1", 2, 1, 1, {}, {}, 0x7, true};

int CodesOf(const Form& form) { return 2 << (form.exponent_bits + form.mantissa_bits); }

double ValueOf(const Form& form, int code) {
  const int sign = code >> (form.exponent_bits + form.mantissa_bits) & 1;
  const int exponent = code >> form.mantissa_bits & ((1 << form.exponent_bits) - 1);
  const int mantissa = code & ((1 << form.mantissa_bits) - 1);
  const double fraction = std::ldexp(mantissa, -form.mantissa_bits);
  const double value = exponent == 0 ? std::ldexp(fraction, 1 - form.bias)
                                     : std::ldexp(1 + fraction, exponent - form.bias);
  return sign != 0 ? -value : value;
}

bool Lists(const std::vector<int>& codes, int code) { return std::ranges::count(codes, code) != 0; }

/// The nearest number, found by looking at all of them; as if the largest had a successor.
int NearestCode(const Form& form, double value) {
  const double magnitude = std::fabs(value);
  int best = 0;
  double best_distance = magnitude;
  for (int code = 1; code <= form.largest; ++code) {
    const double distance = std::fabs(ValueOf(form, code) - magnitude);
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  return best;
}

bool Overflows(const Form& form, double value) {
  const double largest = ValueOf(form, form.largest);
  const double step = largest - ValueOf(form, form.largest - 1);
  const double limit = largest + step / 2;
  // The middle is a tie, which goes to the even of the two codes.
  return std::fabs(value) > limit || (std::fabs(value) == limit && form.largest % 2 != 0);
}

template <typename T>
void CheckEveryCode(const Form& form) {
  SCOPED_TRACE(form.name);
  for (int code = 0; code < CodesOf(form); ++code) {
    SCOPED_TRACE(code);
    const T narrow = T::FromBits(static_cast<std::uint8_t>(code));
    const auto value = static_cast<float>(narrow);
    if (Lists(form.nans, code)) {
      EXPECT_TRUE(std::isnan(value));
      const int back = T(value, Overflow::kSpecial).bits;
      EXPECT_TRUE(Lists(form.nans, back)) << back;
    } else if (Lists(form.infinities, code)) {
      EXPECT_EQ(value, code < 0x80 ? kInf : -kInf);
      EXPECT_EQ(T(value, Overflow::kSpecial).bits, code);
      EXPECT_EQ(T(value).bits, code < 0x80 ? form.largest : form.largest + 0x80);
    } else {
      EXPECT_EQ(value, ValueOf(form, code));
      EXPECT_EQ(std::signbit(value), std::signbit(ValueOf(form, code)));
      EXPECT_EQ(T(value).bits, code);
      EXPECT_EQ(T(value, Overflow::kSpecial).bits, code);
    }
  }
}

template <typename T>
void CheckRounding(const Form& form, float value) {
  SCOPED_TRACE(value);
  const int sign = std::signbit(value) ? CodesOf(form) / 2 : 0;
  int saturated;
  int special;
  if (std::isnan(value)) {
    EXPECT_EQ(std::isnan(static_cast<float>(T(value))), !form.nans.empty());
    EXPECT_EQ(std::isnan(static_cast<float>(T(value, Overflow::kSpecial))), !form.nans.empty());
    return;
  }
  if (Overflows(form, static_cast<double>(value))) {
    saturated = sign | form.largest;
    special = !form.infinities.empty() ? sign | form.infinities.front()
              : form.nans.empty()      ? saturated
              : form.has_negative_zero ? sign | form.nans.front()
                                       : form.nans.front();
  } else {
    const int code = NearestCode(form, static_cast<double>(value));
    saturated = special = code == 0 && !form.has_negative_zero ? 0 : sign | code;
  }
  EXPECT_EQ(T(value).bits, saturated);
  EXPECT_EQ(T(value, Overflow::kSpecial).bits, special);
}

template <typename T>
void CheckForm(const Form& form) {
  CheckEveryCode<T>(form);
  SCOPED_TRACE(form.name);
  std::vector<float> values{
      0.0F, kInf, kNan, 1e30F, 0x1p-149F, 0x1p-130F, std::numeric_limits<float>::max()};
  for (int code = 0; code <= form.largest; ++code) {
    // The middle between neighbours is exact in float.
    const auto low = static_cast<float>(ValueOf(form, code));
    const double step = code == form.largest ? ValueOf(form, code) - ValueOf(form, code - 1)
                                             : ValueOf(form, code + 1) - ValueOf(form, code);
    const auto middle = static_cast<float>(static_cast<double>(low) + step / 2);
    for (const float value : {low, middle}) {
      values.insert(values.end(),
                    {value, std::nextafter(value, kInf), std::nextafter(value, -kInf)});
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    values.push_back(std::ldexp(1 + static_cast<float>(random() % 0x800000U) / 0x800000U,
                                static_cast<int>(random() % 50) - 25));
  }
  for (const float value : values) {
    CheckRounding<T>(form, value);
    CheckRounding<T>(form, -value);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(NarrowFloatTest, EveryFormHoldsAndRoundsAsSpecified) {
  CheckForm<Float8E4M3FN>(kE4M3FN);
  CheckForm<Float8E4M3FNUZ>(kE4M3FNUZ);
  CheckForm<Float8E5M2>(kE5M2);
  CheckForm<Float8E5M2FNUZ>(kE5M2FNUZ);
  CheckForm<Float4E2M1>(kE2M1);
}

TEST(NarrowFloatTest, LargestNumbers) {
  EXPECT_EQ(static_cast<float>(Float8E4M3FN(1e6F)), 448.0F);
  EXPECT_EQ(static_cast<float>(Float8E4M3FNUZ(1e6F)), 240.0F);
  EXPECT_EQ(static_cast<float>(Float8E5M2(1e6F)), 57344.0F);
  EXPECT_EQ(static_cast<float>(Float8E5M2FNUZ(1e6F)), 57344.0F);
  EXPECT_EQ(static_cast<float>(Float4E2M1(1e6F)), 6.0F);
  EXPECT_EQ(Float4E2M1(kNan).bits, 8) << "-0";
}

TEST(NarrowFloatTest, BitsAboveAFourBitCodeAreIgnored) {
  EXPECT_EQ(static_cast<float>(Float4E2M1::FromBits(0x53)), 1.5F);
  EXPECT_EQ(static_cast<float>(Float4E2M1::FromBits(0xFB)), -1.5F);
}

TEST(Float8E8M0Test, EveryCodeSurvivesEveryRounding) {
  for (int code = 0; code < 255; ++code) {
    const auto value = static_cast<float>(Float8E8M0::FromBits(static_cast<std::uint8_t>(code)));
    EXPECT_EQ(value, std::ldexp(1.0F, code - 127));
    for (const auto rounding :
         {PowerRounding::kUp, PowerRounding::kDown, PowerRounding::kNearest}) {
      EXPECT_EQ(Float8E8M0(value, Overflow::kSaturate, rounding).bits, code);
      EXPECT_EQ(Float8E8M0(value, Overflow::kSpecial, rounding).bits, code);
    }
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0::FromBits(255))));
}

TEST(Float8E8M0Test, Rounds) {
  const auto code = [](float value, PowerRounding rounding) {
    return static_cast<int>(Float8E8M0(value, Overflow::kSaturate, rounding).bits) - 127;
  };
  for (int exponent = -127; exponent < 127; ++exponent) {
    SCOPED_TRACE(exponent);
    const float power = std::ldexp(1.0F, exponent);
    const float above = std::nextafter(power, kInf);
    const float middle = 1.5F * power;
    EXPECT_EQ(code(above, PowerRounding::kUp), exponent + 1);
    EXPECT_EQ(code(above, PowerRounding::kDown), exponent);
    EXPECT_EQ(code(above, PowerRounding::kNearest), exponent);
    EXPECT_EQ(code(middle, PowerRounding::kNearest), exponent + 1);
    EXPECT_EQ(code(std::nextafter(middle, 0.0F), PowerRounding::kNearest), exponent);
    EXPECT_EQ(code(std::nextafter(2 * power, 0.0F), PowerRounding::kDown), exponent);
  }
}

TEST(Float8E8M0Test, OutOfRange) {
  const auto saturated = [](float value) { return Float8E8M0(value).bits; };
  const auto special = [](float value) {
    return Float8E8M0(value, Overflow::kSpecial, PowerRounding::kNearest).bits;
  };
  EXPECT_EQ(saturated(kInf), 254);
  EXPECT_EQ(saturated(std::numeric_limits<float>::max()), 254);
  EXPECT_EQ(saturated(0.0F), 0);
  EXPECT_EQ(saturated(0x1p-149F), 0);
  EXPECT_EQ(saturated(kNan), 255);
  EXPECT_EQ(special(kInf), 255);
  EXPECT_EQ(special(std::numeric_limits<float>::max()), 255);
  EXPECT_EQ(special(0.0F), 255);
  EXPECT_EQ(special(0x1p-149F), 255);
  EXPECT_EQ(special(kNan), 255);
}

}  // namespace
}  // namespace poprt
