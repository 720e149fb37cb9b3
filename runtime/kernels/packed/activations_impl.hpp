#pragma once

#include <type_traits>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"

// Activations and the functions they are made of, written once over the vector type V of
// vector_type.hpp.
namespace poprt::kernels::tile {

/// Horner's rule, highest power first.
template <class V, int kCount>
[[gnu::always_inline]] inline typename V::Register Polynomial(typename V::Register x,
                                                              const float (&coefficients)[kCount]) {
  typename V::Register sum = V::Set(coefficients[0]);
  for (int i = 1; i < kCount; ++i) sum = V::MulAdd(sum, x, V::Set(coefficients[i]));
  return sum;
}

/// e to the power of kSign * x within 2 ulp, zero below -87.7, infinity above 88.4; kSign * x from
/// -88.1 to 89.
template <class V, int kSign = 1>
[[gnu::always_inline]] inline typename V::Register ExpInRange(typename V::Register x) {
  // The sum with 1.5 * 2^23 holds the nearest integer in its low bits.
  const auto magic = V::Set(12582912.0F);
  const auto shifted = V::MulAdd(x, V::Set(kSign * 1.44269504088896341F), magic);
  const auto n = V::Sub(shifted, magic);
  auto rest = V::MulAdd(n, V::Set(kSign * -0.693359375F), x);
  rest = V::MulAdd(n, V::Set(kSign * 2.12194440e-4F), rest);
  // Least relative error up to half of log 2: 2e-9.
  const float coefficients[] = {
      1.3843607e-3F, kSign * 8.374196e-3F, 4.1668005e-2F, kSign * 1.666643e-1F,
      4.9999994e-1F, kSign * 1.0F,         1.0F};
  return V::Mul(Polynomial<V>(rest, coefficients), V::PowerOfTwo(shifted));
}

/// 1 + e to the power of -x, what the logistic function divides by; infinity below -88.4.
template <class V>
[[gnu::always_inline]] inline typename V::Register LogisticDivisor(typename V::Register x) {
  const auto in_range = V::Min(V::Set(87.3365478515625F), V::Max(V::Set(-89.0F), x));
  return V::Add(V::Set(1.0F), ExpInRange<V, -1>(in_range));
}

/// Odd rational approximation on [-8.08, 8.08], where tanh reaches 1; within 5 ulp, 7 without fused
/// multiplication. At the limit it is 1 exactly with both, so that Gelu of a large x is 0 or x.
template <class V>
[[gnu::always_inline]] inline typename V::Register Tanh(typename V::Register x) {
  const auto limit = V::Set(8.07809448F);
  const auto clamped = V::Min(limit, V::Max(V::Sub(V::Zero(), limit), x));
  const auto square = V::Mul(clamped, clamped);
  const float numerator[] = {-2.76076847742355e-16F, 2.00018790482477e-13F, -8.60467152213735e-11F,
                             5.12229709037114e-08F,  1.48572235717979e-05F, 6.37261928875436e-04F,
                             4.89352455891786e-03F};
  const float denominator[] = {1.19825839466702e-06F, 1.18534705686654e-04F, 2.26843463243900e-03F,
                               4.89352518554385e-03F};
  const auto quotient =
      V::Div(V::Mul(clamped, Polynomial<V>(square, numerator)), Polynomial<V>(square, denominator));
  return V::SelectLess(V::Abs(x), V::Set(0.0004F), x, quotient);
}

/// Odd rational approximation on [-4, 4], where erf reaches 1; within 6 ulp of normal results.
template <class V>
[[gnu::always_inline]] inline typename V::Register Erf(typename V::Register x) {
  const auto limit = V::Set(4.0F);
  const auto clamped = V::Min(limit, V::Max(V::Sub(V::Zero(), limit), x));
  const auto square = V::Mul(clamped, clamped);
  const float numerator[] = {-2.72614225801306e-10F, 2.77068142495902e-08F,  -2.10102402082508e-06F,
                             -5.69250639462346e-05F, -7.34990630326855e-04F, -2.95459980854025e-03F,
                             -1.60960333262415e-02F};
  const float denominator[] = {-1.45660718464996e-05F, -2.13374055278905e-04F,
                               -1.68282697438203e-03F, -7.37332916720468e-03F,
                               -1.42647390514189e-02F};
  return V::Div(V::Mul(clamped, Polynomial<V>(square, numerator)),
                Polynomial<V>(square, denominator));
}

/// f(std::integral_constant<Activation, `activation`>{}).
template <class F>
[[gnu::always_inline]] inline void WithActivation(Activation activation, const F& f) {
  const auto call = [&f]<Activation kActivation>() __attribute__((always_inline)) {
    f(std::integral_constant<Activation, kActivation>{});
  };
  switch (activation) {
    case Activation::kNone:
      return call.template operator()<Activation::kNone>();
    case Activation::kRelu:
      return call.template operator()<Activation::kRelu>();
    case Activation::kClip:
      return call.template operator()<Activation::kClip>();
    case Activation::kGeluErf:
      return call.template operator()<Activation::kGeluErf>();
    case Activation::kGeluTanh:
      return call.template operator()<Activation::kGeluTanh>();
    case Activation::kSigmoid:
      return call.template operator()<Activation::kSigmoid>();
    case Activation::kTanh:
      return call.template operator()<Activation::kTanh>();
    case Activation::kSilu:
      return call.template operator()<Activation::kSilu>();
    case Activation::kHardSwish:
      return call.template operator()<Activation::kHardSwish>();
    case Activation::kLeakyRelu:
      return call.template operator()<Activation::kLeakyRelu>();
  }
}

/// Whether it is a clamp to a range.
constexpr bool IsClamp(Activation activation) {
  return activation == Activation::kNone || activation == Activation::kRelu ||
         activation == Activation::kClip;
}

template <class V, Activation kActivation>
[[gnu::always_inline]] inline typename V::Register Activate(typename V::Register x,
                                                            const Epilogue& e) {
  // The variable operand comes second in Min and Max, which keeps a NaN.
  if constexpr (kActivation == Activation::kRelu) {
    return V::Max(V::Zero(), x);
  } else if constexpr (kActivation == Activation::kClip) {
    return V::Min(V::Set(e.second), V::Max(V::Set(e.first), x));
  } else if constexpr (kActivation == Activation::kGeluErf) {
    const auto half = V::Mul(x, V::Set(0.5F));
    return V::MulAdd(half, Erf<V>(V::Mul(x, V::Set(0.707106781186547524F))), half);
  } else if constexpr (kActivation == Activation::kGeluTanh) {
    const auto half = V::Mul(x, V::Set(0.5F));
    const auto cubic = V::MulAdd(V::Mul(V::Mul(x, x), x), V::Set(0.044715F), x);
    return V::MulAdd(half, Tanh<V>(V::Mul(cubic, V::Set(0.797884560802865356F))), half);
  } else if constexpr (kActivation == Activation::kSigmoid) {
    return V::Div(V::Set(1.0F), LogisticDivisor<V>(x));
  } else if constexpr (kActivation == Activation::kTanh) {
    return Tanh<V>(x);
  } else if constexpr (kActivation == Activation::kSilu) {
    return V::Div(x, LogisticDivisor<V>(x));
  } else if constexpr (kActivation == Activation::kHardSwish) {
    const auto gate = V::Add(V::Mul(x, V::Set(1.0F / 6.0F)), V::Set(0.5F));
    return V::Mul(x, V::Min(V::Set(1.0F), V::Max(V::Zero(), gate)));
  } else if constexpr (kActivation == Activation::kLeakyRelu) {
    return V::SelectLess(x, V::Zero(), V::Mul(x, V::Set(e.first)), x);
  } else {
    return x;
  }
}

}  // namespace poprt::kernels::tile
