#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Elementary functions with the same bits on every machine. Those for float are free of branches
/// and calls, so that loops over them are vectorised, and err by at most 2.5 units in the last
/// place over the whole range, subnormal numbers, infinities and NaN included. Sin, Cos
/// and Tan branch for huge numbers. The rarer functions compute in double. float_math_test.cpp
/// asserts the bounds.
namespace poprt::kernels {

#define POPRT_INLINE [[gnu::always_inline]] inline

/// `yes` or `no` by `condition`, as a selection rather than a branch.
template <typename T>
POPRT_INLINE T Select(bool condition, T yes, T no) {
  return condition ? yes : no;
}

/// `a` if it is larger or NaN, else `b`. The order of the selections makes one a maximum.
template <typename T>
POPRT_INLINE T LargerOrNan(T a, T b) {
  return Select(a != a, a, Select(a > b, a, b));
}
template <typename T>
POPRT_INLINE T SmallerOrNan(T a, T b) {
  return Select(a != a, a, Select(a < b, a, b));
}

POPRT_INLINE float Abs(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU);
}
POPRT_INLINE double Abs(double x) { return std::fabs(x); }

/// `magnitude`, which is not negative, with the sign of `sign`.
POPRT_INLINE float WithSign(float magnitude, float sign) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) |
                              (std::bit_cast<std::uint32_t>(sign) & 0x80000000U));
}
POPRT_INLINE double WithSign(double magnitude, double sign) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) |
                               (std::bit_cast<std::uint64_t>(sign) & 0x8000000000000000U));
}

/// To the nearest integer, halves to the even one.
template <typename T>
POPRT_INLINE T RoundEven(T x) {
  // Numbers from here on have no fraction; adding it to smaller ones rounds the fraction away.
  constexpr T kWhole = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);
  const T magnitude = Abs(x);
  const T rounded = (magnitude + kWhole) - kWhole;
  return Select(magnitude < kWhole, WithSign(rounded, x), x);
}

template <typename T>
POPRT_INLINE T Floor(T x) {
  const T rounded = RoundEven(x);
  return Select(rounded > x, rounded - T(1), rounded);
}

template <typename T>
POPRT_INLINE T Ceil(T x) {
  const T rounded = RoundEven(x);
  // Between -1 and -0.5 the result is -0.
  return Select(rounded < x, WithSign(Abs(rounded + T(1)), x), rounded);
}

POPRT_INLINE float Sqrt(float x) { return std::sqrt(x); }
POPRT_INLINE double Sqrt(double x) { return std::sqrt(x); }

namespace detail {

/// e^x = 2^n (1 + tail) for a clamped x.
struct ExpParts {
  std::int32_t n;
  float tail;
};

POPRT_INLINE ExpParts SplitExp(float x) {
  constexpr float kRound = 0x1.8p23F;
  const float shifted = x * 1.44269504088896341F + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const auto exponent = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) -
                                                  std::bit_cast<std::uint32_t>(kRound));
  return {exponent, p * (r * r) + r};
}

/// 2^n for n in [-126, 127].
POPRT_INLINE float PowerOfTwo(std::int32_t n) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(n) + 127U) << 23);
}

/// k ln 2 + log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1].
POPRT_INLINE float LogOf(float k, float f) {
  const float s = f / (2.0F + f);
  const float z = s * s;
  const float w = z * z;
  const float odd = w * (0.40000972152F + w * 0.24279078841F);
  const float even = z * (0.66666662693F + w * 0.28498786688F);
  const float half_square = 0.5F * f * f;
  return s * (half_square + (even + odd)) + k * 9.0580006145e-6F - half_square + f +
         k * 6.9313812256e-1F;
}

/// Angles below this are reduced without any error that the result would show.
constexpr float kLargestAngle = 0x1p19F;

/// Sine and cosine of an angle less n pi / 2, and n in the low bits of `quadrant`.
struct Angle {
  double sine;
  double cosine;
  std::uint64_t quadrant;
};

/// For |angle| < kLargestAngle. In double, for angles near a multiple of pi.
POPRT_INLINE Angle SplitAngle(float angle) {
  constexpr double kRound = 0x1.8p52;
  // Pi / 2 in two parts: the first has 33 bits, so that its multiples are exact.
  constexpr double kHigh = 1.57079632673412561417e+00;
  constexpr double kLow = 6.07710050650619224932e-11;
  const auto x = static_cast<double>(angle);
  const double shifted = x * 6.36619772367581382433e-01 + kRound;
  const double n = shifted - kRound;
  const double r = (x - n * kHigh) - n * kLow;
  const double z = r * r;
  double sine = 2.7183114939898219064e-6;
  sine = sine * z - 1.98393348360966317347e-4;
  sine = sine * z + 8.3333293858894631756e-3;
  sine = sine * z - 1.66666666416265235595e-1;
  sine = r * (sine * z + 1.0);
  double cosine = 2.43904487962774090654e-5;
  cosine = cosine * z - 1.38867637746099294692e-3;
  cosine = cosine * z + 4.16666233237390631894e-2;
  cosine = cosine * z - 4.99999997251031003120e-1;
  cosine = cosine * z + 1.0;
  return {sine, cosine, std::bit_cast<std::uint64_t>(shifted)};
}

/// sin(angle + quarters * pi / 2), within 0.502 units in the last place.
POPRT_INLINE float SineInRange(float angle, std::uint64_t quarters) {
  const Angle a = SplitAngle(angle);
  // The baseline processor has no comparison of 64 bits, so selections are made of masks.
  const std::uint64_t quadrant = a.quadrant + quarters;
  const std::uint64_t is_odd = 0 - (quadrant & 1);
  const std::uint64_t magnitude = (std::bit_cast<std::uint64_t>(a.sine) & ~is_odd) |
                                  (std::bit_cast<std::uint64_t>(a.cosine) & is_odd);
  return static_cast<float>(std::bit_cast<double>(magnitude ^ ((quadrant & 2) << 62)));
}

/// tan(angle)
POPRT_INLINE float TangentInRange(float angle) {
  const Angle a = SplitAngle(angle);
  const std::uint64_t is_odd = 0 - (a.quadrant & 1);
  const auto sine = std::bit_cast<std::uint64_t>(a.sine);
  const auto cosine = std::bit_cast<std::uint64_t>(a.cosine);
  const std::uint64_t above = (sine & ~is_odd) | (cosine & is_odd);
  const std::uint64_t below = (cosine & ~is_odd) | (sine & is_odd);
  return static_cast<float>(std::bit_cast<double>(above ^ (is_odd << 63)) /
                            std::bit_cast<double>(below));
}

/// log(x) within 1e-12 for finite positive x that double holds normally. About -709 for zero.
POPRT_INLINE double WideLog(double x) {
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCDU;
  const std::uint64_t word = std::bit_cast<std::uint64_t>(x) + (0x3FF0000000000000U - kRootHalf);
  const double m = std::bit_cast<double>((word & 0x000FFFFFFFFFFFFFU) + kRootHalf);
  // 2^52 + n has the bits of n.
  const double k = std::bit_cast<double>((word >> 52) | 0x4330000000000000U) - (0x1p52 + 1023.0);
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double series = 1.0 / 15.0;
  series = series * z + 1.0 / 13.0;
  series = series * z + 1.0 / 11.0;
  series = series * z + 1.0 / 9.0;
  series = series * z + 1.0 / 7.0;
  series = series * z + 1.0 / 5.0;
  series = series * z + 1.0 / 3.0;
  return k * 6.93147180559945309417e-1 + 2.0 * (s + s * z * series);
}

/// e^x, relatively within 1e-11, for what float holds of it: what overflows there is at least
/// 2^129, what vanishes at most 2^-158.
POPRT_INLINE double WideExp(double x) {
  const double low = Select(x < -110.0, -110.0, x);
  const double clamped = Select(low > 90.0, 90.0, low);
  constexpr double kRound = 0x1.8p52;
  const double shifted = clamped * 1.44269504088896340736 + kRound;
  const double n = shifted - kRound;
  const double r = clamped - n * 6.93147180559945309417e-1;
  double p = 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52;
  return p * std::bit_cast<double>(power);
}

/// Beyond this sine, asin(x) is pi / 2 - 2 asin(sqrt((1 - x) / 2)), which has a short power series.
constexpr float kSteepSine = 0.5F;

// Pi / 2 and pi in two parts: what a float holds of them, and by how much that is too large.
constexpr float kHalfPi = 1.57079637050628662F;
constexpr float kHalfPiExcess = 4.37113900018624283e-8F;
constexpr float kPi = 2.0F * kHalfPi;
constexpr float kPiExcess = 2.0F * kHalfPiExcess;

// Both polynomials have the least largest relative error that those of their degree can have, found
// by Lawson's algorithm: 4.8e-9 and 2.6e-9.

/// The sine of an angle and by how much the angle is larger.
struct AngleOfSine {
  float sine;
  float rest;
};

/// asin(magnitude) or, beyond kSteepSine, asin(sqrt((1 - magnitude) / 2)).
POPRT_INLINE AngleOfSine AsinOf(float magnitude) {
  const bool steep = magnitude > kSteepSine;
  const float square = Select(steep, 0.5F * (1.0F - magnitude), magnitude * magnitude);
  const float sine = Select(steep, Sqrt(square), magnitude);
  float series = 4.216630826788243e-2F;
  series = series * square + 2.417951479590728e-2F;
  series = series * square + 4.54703759352895e-2F;
  series = series * square + 7.49529764324216e-2F;
  series = series * square + 1.666675248201392e-1F;
  return {sine, sine * square * series};
}

/// atan(x) for x in [0, 1].
POPRT_INLINE float AtanOf(float x) {
  const float z = x * x;
  float series = -1.7936222956864978e-3F;
  series = series * z + 1.091460846699787e-2F;
  series = series * z - 3.1177851104412e-2F;
  series = series * z + 5.795759904925063e-2F;
  series = series * z - 8.403450661200546e-2F;
  series = series * z + 1.0952185893284741e-1F;
  series = series * z - 1.4264241703425729e-1F;
  series = series * z + 1.9998548286484422e-1F;
  series = series * z - 3.3333299089196966e-1F;
  return x + x * z * series;
}

}  // namespace detail

/// Whether Sin and Cos of x, and of a loop of such x, need neither a branch nor a call.
POPRT_INLINE bool IsReducibleAngle(float x) { return Abs(x) < detail::kLargestAngle; }

POPRT_INLINE float Sin(float x) {
  if (!IsReducibleAngle(x)) return static_cast<float>(std::sin(static_cast<double>(x)));
  return detail::SineInRange(x, 0);
}
POPRT_INLINE double Sin(double x) { return std::sin(x); }

POPRT_INLINE float Cos(float x) {
  if (!IsReducibleAngle(x)) return static_cast<float>(std::cos(static_cast<double>(x)));
  return detail::SineInRange(x, 1);
}
POPRT_INLINE double Cos(double x) { return std::cos(x); }

POPRT_INLINE float Tan(float x) {
  if (!IsReducibleAngle(x)) return static_cast<float>(std::tan(static_cast<double>(x)));
  return detail::TangentInRange(x);
}
POPRT_INLINE double Tan(double x) { return std::tan(x); }

POPRT_INLINE float Atan(float x) {
  const float magnitude = Abs(x);
  const bool beyond = magnitude > 1.0F;
  const float angle = detail::AtanOf(Select(beyond, 1.0F / magnitude, magnitude));
  return WithSign(Select(beyond, detail::kHalfPi - (angle + detail::kHalfPiExcess), angle), x);
}
POPRT_INLINE double Atan(double x) { return std::atan(x); }

/// NaN beyond [-1, 1].
POPRT_INLINE float Asin(float x) {
  const detail::AngleOfSine a = detail::AsinOf(Abs(x));
  const float steep = (detail::kHalfPi - 2.0F * a.sine) - (2.0F * a.rest + detail::kHalfPiExcess);
  return WithSign(Select(Abs(x) > detail::kSteepSine, steep, a.sine + a.rest), x);
}
POPRT_INLINE double Asin(double x) { return std::asin(x); }

POPRT_INLINE float Acos(float x) {
  const detail::AngleOfSine a = detail::AsinOf(Abs(x));
  const float angle = a.sine + a.rest;
  const float gentle = detail::kHalfPi - (WithSign(angle, x) + detail::kHalfPiExcess);
  const float twice = 2.0F * angle;
  const float steep = Select(x < 0.0F, detail::kPi - (twice + detail::kPiExcess), twice);
  return Select(Abs(x) > detail::kSteepSine, steep, gentle);
}
POPRT_INLINE double Acos(double x) { return std::acos(x); }

POPRT_INLINE float Exp(float x) {
  // Beyond these bounds the result is infinity or zero, which the two multiplications produce.
  const float low = Select(x < -104.0F, -104.0F, x);
  const float clamped = Select(low > 89.0F, 89.0F, low);
  const detail::ExpParts e = detail::SplitExp(clamped);
  const std::int32_t half = e.n >> 1;
  const float scale = detail::PowerOfTwo(half);
  return ((e.tail + 1.0F) * scale) * detail::PowerOfTwo(e.n - half);
}
POPRT_INLINE double Exp(double x) { return std::exp(x); }

/// e^x - 1 for x <= 0, without cancellation near zero.
POPRT_INLINE float Expm1NonPositive(float x) {
  const float clamped = Select(x < -30.0F, -30.0F, x);
  const detail::ExpParts e = detail::SplitExp(clamped);
  const float scale = detail::PowerOfTwo(e.n);
  return Select(x == 0.0F, x, e.tail * scale + (scale - 1.0F));
}
POPRT_INLINE double Expm1NonPositive(double x) { return std::expm1(x); }

POPRT_INLINE float Cosh(float x) {
  const double e = detail::WideExp(Abs(x));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
POPRT_INLINE double Cosh(double x) { return std::cosh(x); }

POPRT_INLINE float Sinh(float x) {
  const double wide = x;
  const double t = Abs(wide);
  const double z = t * t;
  const double near = t + t * z * (1.0 / 6.0 + z * (1.0 / 120.0 + z * (1.0 / 5040.0)));
  const double e = detail::WideExp(t);
  return static_cast<float>(WithSign(Select(t < 0.25, near, 0.5 * (e - 1.0 / e)), wide));
}
POPRT_INLINE double Sinh(double x) { return std::sinh(x); }

POPRT_INLINE float Asinh(float x) {
  const double wide = x;
  const double t = Abs(wide);
  const double near = t - t * t * t * (1.0 / 6.0);
  const double far = detail::WideLog(t + Sqrt(t * t + 1.0));
  const double result = Select(t < 0x1p-8, near, Select(t < 0x1p129, far, t));
  return static_cast<float>(WithSign(Select(t != t, t, result), wide));
}
POPRT_INLINE double Asinh(double x) { return std::asinh(x); }

/// NaN below 1.
POPRT_INLINE float Acosh(float x) {
  const double t = x;
  const double root = Sqrt(t * t - 1.0);
  const double far = detail::WideLog(t + root);
  const double result = Select(t < 0x1p129, far, t);
  return static_cast<float>(Select(t >= 1.0, result, std::numeric_limits<double>::quiet_NaN()));
}
POPRT_INLINE double Acosh(double x) { return std::acosh(x); }

/// Infinite at -1 and 1, NaN beyond.
POPRT_INLINE float Atanh(float x) {
  const double wide = x;
  const double t = Abs(wide);
  const double near = t + t * t * t * (1.0 / 3.0);
  const double far = 0.5 * detail::WideLog((1.0 + t) / (1.0 - t));
  const double edge = Select(t == 1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN());
  return static_cast<float>(WithSign(Select(t < 0x1p-8, near, Select(t < 1.0, far, edge)), wide));
}
POPRT_INLINE double Atanh(double x) { return std::atanh(x); }

/// Whether PowerInRange gives base^exponent.
POPRT_INLINE bool IsPlainPower(float base, double exponent) {
  const bool is_finite = Abs(base) <= std::numeric_limits<float>::max();
  const bool is_small = Abs(exponent) < 0x1p51;
  const bool is_whole = RoundEven(exponent) == exponent;
  const bool is_unsigned = (std::bit_cast<std::uint32_t>(base) >> 31) == 0;
  // As numbers, so that nothing branches.
  return (static_cast<int>(is_finite) & static_cast<int>(is_small) &
          (static_cast<int>(is_whole) | static_cast<int>(is_unsigned))) != 0;
}

/// base^exponent of a finite base and a finite exponent, which is whole if the base has a sign.
POPRT_INLINE float PowerInRange(float base, double exponent) {
  const double wide = base;
  const double magnitude = Abs(wide);
  const double logarithm = Select(magnitude == 0.0, -1e300, detail::WideLog(magnitude));
  const double power = detail::WideExp(exponent * logarithm);
  // 2^52 + n has the bits of n. Odd powers have the sign of the base.
  const std::uint64_t whole = std::bit_cast<std::uint64_t>(Abs(exponent) + 0x1p52);
  const std::uint64_t sign = std::bit_cast<std::uint64_t>(wide) & (whole << 63);
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(power) | sign));
}

/// -inf at zero, NaN below.
POPRT_INLINE float Log(float x) {
  const bool subnormal = x < 0x1p-126F;
  const float scaled = Select(subnormal, x * 0x1p23F, x);
  const std::uint32_t word = std::bit_cast<std::uint32_t>(scaled) + (0x3F800000U - 0x3F3504F3U);
  const auto k = static_cast<std::int32_t>(word >> 23) - Select(subnormal, 127 + 23, 127);
  const float m = std::bit_cast<float>((word & 0x007FFFFFU) + 0x3F3504F3U);
  const float result = detail::LogOf(static_cast<float>(k), m - 1.0F);
  const float finite = Select(x > std::numeric_limits<float>::max(), x, result);
  const float positive = Select(x < 0.0F, std::numeric_limits<float>::quiet_NaN(), finite);
  const float nonzero = Select(x == 0.0F, -std::numeric_limits<float>::infinity(), positive);
  return Select(x != x, x, nonzero);
}
POPRT_INLINE double Log(double x) { return std::log(x); }

/// log(1 + x) for x in [0, 1].
POPRT_INLINE float Log1pUnit(float x) {
  const bool low = x < 0.41421356F;
  return detail::LogOf(Select(low, 0.0F, 1.0F), Select(low, x, 0.5F * (x - 1.0F)));
}
POPRT_INLINE double Log1pUnit(double x) { return std::log1p(x); }

POPRT_INLINE float Erf(float x) {
  const float t = Abs(x);
  const float s = x * x;
  float near = -5.96761703e-4F;
  near = near * s + 4.99119423e-3F;
  near = near * s - 2.67681349e-2F;
  near = near * s + 1.12819925e-1F;
  near = near * s - 3.76125336e-1F;
  near = near * s + 1.28379166e-1F;
  near = near * x + x;
  const float c = Select(t > 5.0F, 5.0F, t);
  const float c2 = c * c;
  float far = -1.72853470e-5F * c + 3.83197126e-4F;
  far = far * c2 + (-3.88396438e-3F * c + 2.42546219e-2F);
  far = far * c - 1.06777877e-1F;
  far = far * c - 6.34846687e-1F;
  far = far * c - 1.28717512e-1F;
  far = far * c - c;
  far = WithSign(1.0F - Exp(far), x);
  return Select(t > 0.927734375F, far, near);
}
POPRT_INLINE double Erf(double x) { return std::erf(x); }

POPRT_INLINE float Tanh(float x) {
  const float t = Abs(x);
  const float s = x * x;
  float near = -5.70498872745e-3F;
  near = near * s + 2.06390887954e-2F;
  near = near * s - 5.37397155531e-2F;
  near = near * s + 1.33314422036e-1F;
  near = near * s - 3.33332819422e-1F;
  near = near * s * t + t;
  const float far = 1.0F - 2.0F / (Exp(t + t) + 1.0F);
  return WithSign(Select(t > 0.625F, far, near), x);
}
POPRT_INLINE double Tanh(double x) { return std::tanh(x); }

/// 1 / (1 + e^-x)
template <typename T>
POPRT_INLINE T Sigmoid(T x) {
  const T e = Exp(-Abs(x));
  return Select(x < T(0), e, T(1)) / (T(1) + e);
}

/// log(1 + e^x)
template <typename T>
POPRT_INLINE T Softplus(T x) {
  return Select(x > T(0), x, T(0)) + Log1pUnit(Exp(-Abs(x)));
}

}  // namespace poprt::kernels
