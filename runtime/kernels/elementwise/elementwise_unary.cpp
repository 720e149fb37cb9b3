#include <array>
#include <cmath>

#include "runtime/kernels/elementwise/elementwise.hpp"
#include "runtime/kernels/elementwise/elementwise_map.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"

namespace poprt::kernels {
namespace {

// clang-format off
#define POPRT_UNARY(NAME, EXPRESSION) \
  struct NAME { template <typename T> T operator()(T x) const { return EXPRESSION; } };
// clang-format on

POPRT_UNARY(AcosOp, Acos(x))
POPRT_UNARY(AcoshOp, Acosh(x))
POPRT_UNARY(AsinOp, Asin(x))
POPRT_UNARY(AsinhOp, Asinh(x))
POPRT_UNARY(AtanOp, Atan(x))
POPRT_UNARY(AtanhOp, Atanh(x))
POPRT_UNARY(CoshOp, Cosh(x))
POPRT_UNARY(SinhOp, Sinh(x))
POPRT_UNARY(CeilOp, Ceil(x))
POPRT_UNARY(FloorOp, Floor(x))
POPRT_UNARY(RoundOp, RoundEven(x))
POPRT_UNARY(ExpOp, Exp(x))
POPRT_UNARY(LogOp, Log(x))
POPRT_UNARY(TanhOp, Tanh(x))
POPRT_UNARY(SqrtOp, Sqrt(x))
POPRT_UNARY(ReciprocalOp, T(1) / x)
POPRT_UNARY(BitwiseNotOp, static_cast<T>(~x))

/// Loops over angles that are all reducible are vectorised.
struct SinOp {
  float operator()(float x) const { return Sin(x); }
  double operator()(double x) const { return Sin(x); }
  static bool IsBranchFree(float x) { return IsReducibleAngle(x); }
  static float BranchFree(float x) { return detail::SineInRange(x, 0); }
};
struct CosOp {
  float operator()(float x) const { return Cos(x); }
  double operator()(double x) const { return Cos(x); }
  static bool IsBranchFree(float x) { return IsReducibleAngle(x); }
  static float BranchFree(float x) { return detail::SineInRange(x, 1); }
};

struct TanOp {
  float operator()(float x) const { return Tan(x); }
  double operator()(double x) const { return Tan(x); }
  static bool IsBranchFree(float x) { return IsReducibleAngle(x); }
  static float BranchFree(float x) { return detail::TangentInRange(x); }
};

struct AbsOp {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return Abs(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else {
      return Select(x < 0, WrappingSub<T>(0, x), x);
    }
  }
};

/// Of the integers only those from 6 on have an error function that is 1 in double, not less.
struct ErfOp {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return Erf(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(x >= 6);
    } else {
      return static_cast<T>((x >= 6) - (x <= -6));
    }
  }
};

struct NegOp {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return WrappingSub<T>(0, x);
    }
  }
};

struct SignOp {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return Select(x > T(0), T(1), Select(x < T(0), T(-1), x));
    } else if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(x > 0);
    } else {
      return static_cast<T>((x > 0) - (x < 0));
    }
  }
};

struct NotOp {
  bool operator()(bool x) const { return !x; }
};

struct IsNanOp {
  template <typename T>
  bool operator()(T x) const {
    return x != x;
  }
};

struct IsInfOp {
  bool positive;
  bool negative;

  explicit IsInfOp(const KernelCall& call)
      : positive(FlagAttribute(call, "detect_positive", true)),
        negative(FlagAttribute(call, "detect_negative", true)) {}
  IsInfOp() = default;
  template <typename T>
  bool operator()(T x) const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return (positive & (x == kInfinity)) | (negative & (x == -kInfinity));
  }
};

constexpr TypeSet kSignedNumbers = kFloatTypes | kSignedTypes;

constexpr auto kKernels = std::to_array<KernelDef>({
    {"Abs", BindUnary<AbsOp, kNumericTypes>},
    {"Acos", BindUnary<AcosOp, kFloatTypes>},
    {"Acosh", BindUnary<AcoshOp, kFloatTypes>},
    {"Asin", BindUnary<AsinOp, kFloatTypes>},
    {"Asinh", BindUnary<AsinhOp, kFloatTypes>},
    {"Atan", BindUnary<AtanOp, kFloatTypes>},
    {"Atanh", BindUnary<AtanhOp, kFloatTypes>},
    {"BitwiseNot", BindUnary<BitwiseNotOp, kIntegerTypes>},
    {"Ceil", BindUnary<CeilOp, kFloatTypes>},
    {"Cos", BindUnary<CosOp, kFloatTypes>},
    {"Cosh", BindUnary<CoshOp, kFloatTypes>},
    {"Erf", BindUnary<ErfOp, kNumericTypes>},
    {"Exp", BindUnary<ExpOp, kFloatTypes>},
    {"Floor", BindUnary<FloorOp, kFloatTypes>},
    {"IsInf", BindUnary<IsInfOp, kFloatTypes>},
    {"IsNaN", BindUnary<IsNanOp, kFloatTypes>},
    {"Log", BindUnary<LogOp, kFloatTypes>},
    {"Neg", BindUnary<NegOp, kSignedNumbers>},
    {"Not", BindUnary<NotOp, kBoolType>},
    {"Reciprocal", BindUnary<ReciprocalOp, kFloatTypes>},
    {"Round", BindUnary<RoundOp, kFloatTypes>},
    {"Sign", BindUnary<SignOp, kNumericTypes>},
    {"Sin", BindUnary<SinOp, kFloatTypes>},
    {"Sinh", BindUnary<SinhOp, kFloatTypes>},
    {"Sqrt", BindUnary<SqrtOp, kFloatTypes>},
    {"Tan", BindUnary<TanOp, kFloatTypes>},
    {"Tanh", BindUnary<TanhOp, kFloatTypes>},
});

}  // namespace

std::span<const KernelDef> UnaryKernels() { return kKernels; }

}  // namespace poprt::kernels
