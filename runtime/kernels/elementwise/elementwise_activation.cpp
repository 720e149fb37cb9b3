#include <array>

#include "runtime/kernels/elementwise/elementwise.hpp"
#include "runtime/kernels/elementwise/elementwise_map.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"

namespace poprt::kernels {
namespace {

/// Zero and NaN stay what they are.
struct ReluOp {
  template <typename T>
  T operator()(T x) const {
    return Select(x < T(0), T(0), x);
  }
};

/// An activation with one factor.
struct WithAlpha {
  float alpha;
  explicit WithAlpha(float value = 0) : alpha(value) {}
};

struct CeluOp : WithAlpha {
  explicit CeluOp(const KernelCall& call) : WithAlpha(FloatAttribute(call, "alpha", 1.0F)) {}
  template <typename T>
  T operator()(T x) const {
    const T a = alpha;
    return Select(x > T(0), x, a * Expm1NonPositive(x / a));
  }
};

struct EluOp : WithAlpha {
  explicit EluOp(const KernelCall& call) : WithAlpha(FloatAttribute(call, "alpha", 1.0F)) {}
  template <typename T>
  T operator()(T x) const {
    return Select(x > T(0), x, T(alpha) * Expm1NonPositive(x));
  }
};

struct SeluOp : WithAlpha {
  float gamma;
  explicit SeluOp(const KernelCall& call)
      : WithAlpha(FloatAttribute(call, "alpha", 1.67326319217681884765625F)),
        gamma(FloatAttribute(call, "gamma", 1.05070102214813232421875F)) {}
  template <typename T>
  T operator()(T x) const {
    return T(gamma) * Select(x > T(0), x, T(alpha) * Expm1NonPositive(x));
  }
};

struct LeakyReluOp : WithAlpha {
  explicit LeakyReluOp(const KernelCall& call) : WithAlpha(FloatAttribute(call, "alpha", 0.01F)) {}
  template <typename T>
  T operator()(T x) const {
    return Select(x < T(0), T(alpha) * x, x);
  }
};

struct ThresholdedReluOp : WithAlpha {
  explicit ThresholdedReluOp(const KernelCall& call)
      : WithAlpha(FloatAttribute(call, "alpha", 1.0F)) {}
  template <typename T>
  T operator()(T x) const {
    return Select(x <= T(alpha), T(0), x);
  }
};

struct SwishOp : WithAlpha {
  explicit SwishOp(const KernelCall& call) : WithAlpha(FloatAttribute(call, "alpha", 1.0F)) {}
  template <typename T>
  T operator()(T x) const {
    return x * Sigmoid(T(alpha) * x);
  }
};

template <typename T>
POPRT_INLINE T Clamp01(T x) {
  const T low = Select(x < T(0), T(0), x);
  return Select(low > T(1), T(1), low);
}

struct HardSigmoidOp : WithAlpha {
  float beta;
  explicit HardSigmoidOp(const KernelCall& call)
      : WithAlpha(FloatAttribute(call, "alpha", 0.2F)), beta(FloatAttribute(call, "beta", 0.5F)) {}
  template <typename T>
  T operator()(T x) const {
    return Clamp01(T(alpha) * x + T(beta));
  }
};

struct HardSwishOp {
  template <typename T>
  T operator()(T x) const {
    return x * Clamp01(x * T(1.0 / 6.0) + T(0.5));
  }
};

struct GeluErfOp {
  template <typename T>
  T operator()(T x) const {
    return T(0.5) * x * (T(1) + Erf(x * T(0.70710678118654752440)));
  }
};

struct GeluTanhOp {
  template <typename T>
  T operator()(T x) const {
    constexpr T kFactor = T(0.79788456080286535588);
    return T(0.5) * x * (T(1) + Tanh(kFactor * (x + T(0.044715) * x * x * x)));
  }
};

/// x tanh(log(1 + e^x)), the exponentials multiplied out.
struct MishOp {
  template <typename T>
  T operator()(T x) const {
    const T e = Exp(-Abs(x));
    const bool positive = x > T(0);
    const T above = Select(positive, T(1) + T(2) * e, e * (e + T(2)));
    const T below = above + Select(positive, T(2) * e * e, T(2));
    // The limit at minus infinity is zero.
    return Select(e == T(0) && !positive, T(-0.0), x * (above / below));
  }
};

struct SigmoidOp {
  template <typename T>
  T operator()(T x) const {
    return Sigmoid(x);
  }
};

struct SoftplusOp {
  template <typename T>
  T operator()(T x) const {
    return Softplus(x);
  }
};

struct SoftsignOp {
  template <typename T>
  T operator()(T x) const {
    return x / (T(1) + Abs(x));
  }
};

/// Integers are shrunk in double and truncated.
struct ShrinkOp {
  float lambd;
  float bias;
  explicit ShrinkOp(const KernelCall& call)
      : lambd(FloatAttribute(call, "lambd", 0.5F)), bias(FloatAttribute(call, "bias", 0.0F)) {}
  template <typename T>
  T operator()(T x) const {
    using Wide = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const auto value = static_cast<Wide>(x);
    const Wide shrunk = Select(value < -Wide(lambd), value + Wide(bias),
                               Select(value > Wide(lambd), value - Wide(bias), Wide(0)));
    if constexpr (std::is_floating_point_v<T>) {
      return shrunk;
    } else {
      constexpr double kLimit = std::is_same_v<T, std::uint64_t> ? 0x1p64 : 0x1p63;
      if (!(shrunk > -0x1p63 && shrunk < kLimit)) return 0;
      return shrunk < 0 ? static_cast<T>(static_cast<std::int64_t>(shrunk))
                        : static_cast<T>(static_cast<std::uint64_t>(shrunk));
    }
  }
};

BoundKernel BindGelu(const KernelCall& call) {
  const std::string approximate = StringAttribute(call, "approximate", "none");
  if (approximate == "none") return BindUnary<GeluErfOp, kFloatTypes>(call);
  if (approximate == "tanh") return BindUnary<GeluTanhOp, kFloatTypes>(call);
  throw KernelError("attribute 'approximate' is \"" + approximate +
                    "\", allowed are \"none\" and \"tanh\"");
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"Celu", BindUnary<CeluOp, kFloatTypes>},
    {"Elu", BindUnary<EluOp, kFloatTypes>},
    {"Gelu", BindGelu},
    {"HardSigmoid", BindUnary<HardSigmoidOp, kFloatTypes>},
    {"HardSwish", BindUnary<HardSwishOp, kFloatTypes>},
    {"LeakyRelu", BindUnary<LeakyReluOp, kFloatTypes>},
    {"Mish", BindUnary<MishOp, kFloatTypes>},
    {"Relu", BindUnary<ReluOp, kFloatTypes | kSignedTypes>},
    {"Selu", BindUnary<SeluOp, kFloatTypes>},
    {"Shrink", BindUnary<ShrinkOp, kNumericTypes>},
    {"Sigmoid", BindUnary<SigmoidOp, kFloatTypes>},
    {"Softplus", BindUnary<SoftplusOp, kFloatTypes>},
    {"Softsign", BindUnary<SoftsignOp, kFloatTypes>},
    {"Swish", BindUnary<SwishOp, kFloatTypes>},
    {"ThresholdedRelu", BindUnary<ThresholdedReluOp, kFloatTypes>},
});

}  // namespace

std::span<const KernelDef> ActivationKernels() { return kKernels; }

}  // namespace poprt::kernels
