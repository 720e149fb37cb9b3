#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr std::array kAll{kFloat32,    kFloat64,        kFloat16,    kBFloat16,     kInt8,
                          kInt16,      kInt32,          kInt64,      kUint8,        kUint16,
                          kUint32,     kUint64,         kBool,       kFloat8E4M3FN, kFloat8E4M3FNUZ,
                          kFloat8E5M2, kFloat8E5M2FNUZ, kFloat8E8M0, kFloat4E2M1,   kInt4,
                          kUint4,      kInt2,           kUint2};

bool IsNarrow(ElementType element) { return IsNarrowFloat(element) || IsNarrowInteger(element); }

Tensor Codes(ElementType element, int count = 256) {
  Tensor tensor({element, {count}});
  for (int i = 0; i < count; ++i) {
    tensor.mutable_data()[i] = static_cast<std::byte>(i);
  }
  return tensor;
}

Tensor Cast(const Tensor& tensor, ElementType to, const Attributes& attributes = {}) {
  return Run1("Cast", {tensor}, {to, tensor.shape()}, attributes);
}

Values ToValues(const Tensor& tensor) {
  return testing::ToValues(tensor.element() == kFloat64 ? tensor : Cast(tensor, kFloat64));
}

Tensor Doubles(const Values& values) {
  return FromValues(kFloat64, {static_cast<std::int64_t>(values.size())}, values);
}

/// The numbers of a narrow type by their codes, as its definition tells them; NaN for other codes.
Values Numbers(ElementType element) {
  struct Form {
    int exponent;
    int mantissa;
    int bias;
  };
  const auto form = [&]() -> Form {
    switch (element) {
      case kFloat8E4M3FN:
        return {4, 3, 7};
      case kFloat8E4M3FNUZ:
        return {4, 3, 8};
      case kFloat8E5M2:
        return {5, 2, 15};
      case kFloat8E5M2FNUZ:
        return {5, 2, 16};
      default:
        return {2, 1, 1};
    }
  }();
  Values numbers;
  for (int code = 0; code < 1 << PackedBits(element); ++code) {
    if (IsNarrowInteger(element)) {
      const int count = 1 << PackedBits(element);
      const bool is_negative = (element == kInt4 || element == kInt2) && code >= count / 2;
      numbers.push_back(is_negative ? code - count : code);
      continue;
    }
    if (element == kFloat8E8M0) {
      numbers.push_back(code == 255 ? kNan : std::ldexp(1.0, code - 127));
      continue;
    }
    const int exponent = code >> form.mantissa & ((1 << form.exponent) - 1);
    const int mantissa = code & ((1 << form.mantissa) - 1);
    double value = std::ldexp(mantissa + (exponent == 0 ? 0 : 1 << form.mantissa),
                              std::max(exponent, 1) - form.bias - form.mantissa);
    if (element == kFloat8E5M2 && exponent == 31) value = mantissa == 0 ? kInf : kNan;
    if (element == kFloat8E4M3FN && (code & 127) == 127) value = kNan;
    if ((element == kFloat8E4M3FNUZ || element == kFloat8E5M2FNUZ) && code == 128) value = kNan;
    numbers.push_back(code >> (PackedBits(element) - 1) != 0 ? -value : value);
  }
  return numbers;
}

void ExpectSame(const Values& found, const Values& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << i << " is " << found[i];
    } else {
      EXPECT_EQ(found[i], wanted[i]) << i;
      EXPECT_EQ(std::signbit(found[i]), std::signbit(wanted[i])) << i;
    }
  }
}

TEST(CastNarrowTest, EveryCodeIsTheNumberOfItsDefinition) {
  for (const ElementType element : kAll) {
    if (!IsNarrow(element)) continue;
    SCOPED_TRACE(ElementName(element));
    const Values numbers = Numbers(element);
    const Tensor codes = Codes(element, static_cast<int>(numbers.size()));
    ExpectSame(ToValues(codes), numbers);
    for (const ElementType wide : {kFloat32, kFloat64, kBFloat16}) {
      const Tensor back = Cast(Cast(codes, wide), element, {{"saturate", std::int64_t{0}}});
      ExpectSame(ToValues(back), numbers);
    }
  }
}

TEST(CastNarrowTest, BitsAboveANarrowTypeDoNotMatter) {
  for (const ElementType element : {kInt4, kUint4, kInt2, kUint2, kFloat4E2M1}) {
    SCOPED_TRACE(ElementName(element));
    const Values numbers = Numbers(element);
    Values wanted;
    for (std::size_t i = 0; i < 256; ++i) wanted.push_back(numbers[i % numbers.size()]);
    ExpectSame(ToValues(Codes(element)), wanted);
  }
}

/// What the specification says of a conversion from a real number to a narrow float, by looking at
/// all its numbers.
double Rounded(ElementType to, double value, bool saturate) {
  const Values numbers = Numbers(to);
  const bool has_nan = to != kFloat4E2M1;
  const bool has_negative_zero = to != kFloat8E4M3FNUZ && to != kFloat8E5M2FNUZ;
  double largest = 0;
  for (const double number : numbers) {
    if (std::isfinite(number)) largest = std::max(largest, number);
  }
  if (std::isnan(value)) return has_nan ? value : -0.0;
  int best = -1;
  double distance = kInf;
  double step = kInf;  // between the two largest
  for (std::size_t i = 0; i < numbers.size() / 2; ++i) {
    const double number = numbers[i];
    if (!std::isfinite(number)) continue;
    if (number < largest) step = std::min(step, largest - number);
    const double d = std::fabs(number - std::fabs(value));
    if (d < distance || (d == distance && i % 2 == 0)) {
      best = static_cast<int>(i);
      distance = d;
    }
  }
  const bool largest_is_odd =
      to == kFloat8E4M3FNUZ || to == kFloat8E5M2 || to == kFloat8E5M2FNUZ || to == kFloat4E2M1;
  const double limit = largest + step / 2;
  const bool overflows = std::fabs(value) > limit || (std::fabs(value) == limit && largest_is_odd);
  double result = best < 0 ? largest : numbers[static_cast<std::size_t>(best)];
  if (overflows || std::isinf(value)) {
    result = saturate || !has_nan ? largest : to == kFloat8E5M2 ? kInf : kNan;
  }
  if (result == 0 && !has_negative_zero) return 0;
  return std::signbit(value) ? -result : result;
}

TEST(CastNarrowTest, FloatsAreRoundedOnceFromEverySource) {
  std::mt19937 random(11);
  for (const ElementType to :
       {kFloat8E4M3FN, kFloat8E4M3FNUZ, kFloat8E5M2, kFloat8E5M2FNUZ, kFloat4E2M1}) {
    SCOPED_TRACE(ElementName(to));
    Values values{0, -0.0, kInf, -kInf, kNan, 1e300, -1e300, 1e-300, -1e-300, 1e6, 1e-7};
    const Values numbers = Numbers(to);
    for (std::size_t i = 0; i + 1 < numbers.size() / 2; ++i) {
      if (!std::isfinite(numbers[i]) || !std::isfinite(numbers[i + 1])) continue;
      const double middle = (numbers[i] + numbers[i + 1]) / 2;
      // Through float, the neighbours of a middle in double would become ties.
      for (const double value : {middle, std::nextafter(middle, kInf), std::nextafter(middle, 0)}) {
        values.push_back(value);
        values.push_back(-value);
      }
    }
    for (int i = 0; i < 500; ++i) {
      values.push_back(
          std::ldexp(static_cast<double>(random()) - 0x1p31, static_cast<int>(random() % 50) - 45));
    }
    for (const ElementType from : {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kUint64, kInt8,
                                   kFloat8E5M2, kInt4, kBool}) {
      SCOPED_TRACE(ElementName(from));
      const Tensor source = Cast(Doubles(values), from);
      for (const bool saturate : {true, false}) {
        Values wanted;
        for (const double value : ToValues(source)) wanted.push_back(Rounded(to, value, saturate));
        ExpectSame(ToValues(Cast(source, to, {{"saturate", std::int64_t{saturate}}})), wanted);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(CastNarrowTest, IntegersKeepTheirLowBits) {
  const Values values{-300, -9, -8, -1, 0, 1, 7, 8, 15, 16, 17, 1000};
  for (const ElementType from : {kInt16, kInt32, kInt64, kFloat32, kFloat16, kFloat64}) {
    SCOPED_TRACE(ElementName(from));
    const Tensor source = Cast(Doubles(values), from);
    EXPECT_EQ(ToValues(Cast(source, kInt4)), (Values{4, 7, -8, -1, 0, 1, 7, -8, -1, 0, 1, -8}));
    EXPECT_EQ(ToValues(Cast(source, kUint4)), (Values{4, 7, 8, 15, 0, 1, 7, 8, 15, 0, 1, 8}));
    EXPECT_EQ(ToValues(Cast(source, kInt2)), (Values{0, -1, 0, -1, 0, 1, -1, 0, -1, 0, 1, 0}));
    EXPECT_EQ(ToValues(Cast(source, kUint2)), (Values{0, 3, 0, 3, 0, 1, 3, 0, 3, 0, 1, 0}));
  }
  EXPECT_EQ(ToValues(Cast(Doubles({1.9, -1.9, 6.99}), kInt4)), (Values{1, -1, 6}));
}

TEST(CastNarrowTest, SmallNumbersSurviveBetweenAllTypes) {
  for (const ElementType from : kAll) {
    for (const ElementType to : kAll) {
      SCOPED_TRACE(std::string(ElementName(from)) + " to " + std::string(ElementName(to)));
      const Tensor source = Cast(Doubles({1, 1, 1}), from);
      EXPECT_EQ(ToValues(Cast(source, to)), (Values{1, 1, 1}));
    }
  }
}

TEST(CastNarrowTest, BoolIsWhetherNotZero) {
  EXPECT_EQ(ToValues(Cast(Cast(Doubles({0, -0.0, kNan, 0.25, kInf}), kFloat8E5M2), kBool)),
            (Values{0, 0, 1, 1, 1}));
  EXPECT_EQ(ToValues(Cast(Cast(Doubles({0, -1, 16}), kInt4), kBool)), (Values{0, 1, 0}));
}

TEST(CastNarrowTest, RoundingToPowersOfTwoCanBeChosen) {
  const Tensor source = Doubles({1.1, 1.5, 1.75, 4, 1 + 0x1p-50});
  EXPECT_EQ(ToValues(Cast(source, kFloat8E8M0)), (Values{2, 2, 2, 4, 2}));
  EXPECT_EQ(ToValues(Cast(source, kFloat8E8M0, {{"round_mode", std::string("down")}})),
            (Values{1, 1, 1, 4, 1}));
  EXPECT_EQ(ToValues(Cast(source, kFloat8E8M0, {{"round_mode", std::string("nearest")}})),
            (Values{1, 2, 2, 4, 1}));
  EXPECT_EQ(ToValues(Cast(Doubles({1e300, 0}), kFloat8E8M0)), (Values{0x1p127, 0x1p-127}));
}

TEST(CastNarrowTest, BindErrors) {
  const TensorType x{kFloat32, {2}};
  EXPECT_EQ(BindError("Cast", {x}, {{kFloat8E8M0, {2}}}, {{"round_mode", std::string("even")}}),
            "attribute 'round_mode' is \"even\", allowed are up, down, nearest");
  EXPECT_NE(BindError("Cast", {x}, {{kFloat8E8M0, {2}}}, {{"saturate", std::int64_t{2}}}), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
