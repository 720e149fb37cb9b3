#include <array>
#include <cmath>

#include "runtime/kernels/elementwise/elementwise.hpp"
#include "runtime/kernels/elementwise/elementwise_map.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"

namespace poprt::kernels {
namespace {

struct AddOp {
  template <typename T>
  T operator()(T a, T b) const {
    return WrappingAdd(a, b);
  }
};

struct SubOp {
  template <typename T>
  T operator()(T a, T b) const {
    return WrappingSub(a, b);
  }
};

struct MulOp {
  template <typename T>
  T operator()(T a, T b) const {
    return WrappingMul(a, b);
  }
};

struct DivOp {
  template <typename T>
  T operator()(T a, T b) const {
    return SafeDiv(a, b);
  }
};

/// The sign of the dividend.
struct FmodOp {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(std::fmod(static_cast<double>(a), static_cast<double>(b)));
    } else {
      return SafeRemainder(a, b);
    }
  }
};

/// The sign of the divisor.
struct ModOp {
  template <typename T>
  T operator()(T a, T b) const {
    const T r = SafeRemainder(a, b);
    return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  }
};

struct PreluOp {
  template <typename T>
  T operator()(T x, T slope) const {
    return Select(x < T(0), WrappingMul(x, slope), x);
  }
};

struct PowOp {
  template <typename T>
  T operator()(T base, std::int64_t exponent) const {
    return IntegerPower(base, exponent);
  }
  template <typename T>
  T operator()(T base, double exponent) const {
    const auto x = static_cast<double>(base);
    // Squares, the most frequent powers by far, are exact in double.
    const double power = exponent == 2.0 ? x * x : std::pow(x, exponent);
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(power);
    } else {
      if (!(power > -0x1p63 && power < 0x1p63)) return std::numeric_limits<T>::min();
      return static_cast<T>(static_cast<std::int64_t>(power));
    }
  }
};

/// Calls f(first, count) for the chunks of n elements, compiled for every instruction set.
template <typename F>
void ForChunks(std::int64_t n, const F& f) {
  constexpr std::int64_t kChunk = 256;
  RunWide([=] {
    for (std::int64_t i = 0; i < n; i += kChunk) f(i, std::min(kChunk, n - i));
  });
}

/// y[i] = fmod(a[i], b[i]) for a chunk, with vectors where doubles hold a and the quotient's whole
/// part times b exactly: those of up to 2^26 floats are rounded to no other whole number.
void RemainderChunk(const float* a, const float* b, float* y, std::int64_t n) {
  constexpr double kMost = 1 << 26;
  const auto quotient = [=](std::int64_t i) __attribute__((always_inline)) {
    return static_cast<double>(a[i]) / static_cast<double>(b[i]);
  };
  int exact = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool is_finite = std::abs(b[i]) <= std::numeric_limits<float>::max();
    exact &= (is_finite & (std::abs(quotient(i)) < kMost)) ? 1 : 0;
  }
  if (exact == 0) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = FmodOp()(a[i], b[i]);
    return;
  }
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < n; ++i) {
    const double whole = std::trunc(quotient(i)) * static_cast<double>(b[i]);
    y[i] = std::copysign(static_cast<float>(static_cast<double>(a[i]) - whole), a[i]);
  }
}

void FloatRemainderLoop(const void* /*op*/, const std::byte* const* in, std::byte* out,
                        std::int64_t n) {
  ForChunks(n, [=](std::int64_t i, std::int64_t count) {
    RemainderChunk(reinterpret_cast<const float*>(in[0]) + i,
                   reinterpret_cast<const float*>(in[1]) + i, reinterpret_cast<float*>(out) + i,
                   count);
  });
}

BoundKernel BindMod(const KernelCall& call) {
  RequireArity(call, 2, 2);
  if (FlagAttribute(call, "fmod", false)) {
    if (ComputeElement(call.inputs[0].element) != ElementType::kFloat32) {
      return BindBinary<FmodOp, kNumericTypes>(call);
    }
    RequireElement(call.inputs[1], Types({call.inputs[0].element}), "input 1");
    return BindMap(call, {.loop = FloatRemainderLoop,
                          .op = MakeOp<FmodOp>(call),
                          .inputs = {ElementType::kFloat32, ElementType::kFloat32},
                          .result = ElementType::kFloat32,
                          .output = call.inputs[0].element});
  }
  Require(!IsFloat(call.inputs[0].element),
          "attribute 'fmod' is 0, but inputs of a float type need 1");
  return BindBinary<ModOp, kIntegerTypes>(call);
}

/// y[i] = base[i]^exponent[i] for a chunk. The frequent powers, and those without special cases,
/// are computed with vectors.
void PowerChunk(const float* base, const double* exponent, float* y, std::int64_t n) {
  const double first = exponent[0];
  int same = 1;
  int plain = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    same &= exponent[i] == first ? 1 : 0;
    plain &= IsPlainPower(base[i], exponent[i]) ? 1 : 0;
  }
  const auto apply = [=](auto power) __attribute__((always_inline)) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<float>(power(static_cast<double>(base[i])));
    }
  };
  if (same != 0 && first == 2.0) {
    apply([](double x) { return x * x; });
  } else if (same != 0 && first == 3.0) {
    apply([](double x) { return x * x * x; });
  } else if (same != 0 && first == 0.5 && plain != 0) {
    apply([](double x) { return Sqrt(x) + 0.0; });  // of -0 as well
  } else if (plain != 0) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = PowerInRange(base[i], exponent[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = PowOp()(base[i], exponent[i]);
  }
}

void FloatPowerLoop(const void* /*op*/, const std::byte* const* in, std::byte* out,
                    std::int64_t n) {
  ForChunks(n, [=](std::int64_t i, std::int64_t count) {
    PowerChunk(reinterpret_cast<const float*>(in[0]) + i,
               reinterpret_cast<const double*>(in[1]) + i, reinterpret_cast<float*>(out) + i,
               count);
  });
}

// The exponent is of any type; it is computed with as double, or int64 if both are integers.
BoundKernel BindPow(const KernelCall& call) {
  constexpr TypeSet kBases = kFloatTypes | Types({ElementType::kInt32, ElementType::kInt64});
  RequireArity(call, 2, 2);
  RequireElement(call.inputs[0], kBases, "input 0");
  RequireElement(call.inputs[1], kNumericTypes, "input 1");
  const ElementType base = call.inputs[0].element;
  const bool integers = IsInteger(base) && IsInteger(call.inputs[1].element);
  MapSpec spec{
      .op = MakeOp<PowOp>(call),
      .inputs = {ComputeElement(base), integers ? ElementType::kInt64 : ElementType::kFloat64},
      .result = ComputeElement(base),
      .output = base};
  VisitCompute<void, kBases>(base, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_same_v<T, float>) {
      spec.loop = FloatPowerLoop;
    } else {
      spec.loop = BinaryLoop<PowOp, T, double>;
    }
    if constexpr (std::is_integral_v<T>) {
      if (integers) spec.loop = BinaryLoop<PowOp, T, std::int64_t>;
    }
  });
  return BindMap(call, std::move(spec));
}

BoundKernel BindPrelu(const KernelCall& call) {
  constexpr TypeSet kTypes = kFloatTypes | Types({ElementType::kInt32, ElementType::kInt64,
                                                  ElementType::kUint32, ElementType::kUint64});
  RequireArity(call, 2, 2);
  RequireType(call.outputs[0], call.inputs[0], "output 0");
  return BindBinary<PreluOp, kTypes>(call);
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"Add", BindBinary<AddOp, kNumericTypes>},
    {"Div", BindBinary<DivOp, kNumericTypes>},
    {"Mod", BindMod},
    {"Mul", BindBinary<MulOp, kNumericTypes>},
    {"PRelu", BindPrelu},
    {"Pow", BindPow},
    {"Sub", BindBinary<SubOp, kNumericTypes>},
});

}  // namespace

std::span<const KernelDef> ArithmeticKernels() { return kKernels; }

}  // namespace poprt::kernels
