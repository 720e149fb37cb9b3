#include "runtime/kernels/recurrent/recurrent_activation.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

using Function = RecurrentActivation::Function;

constexpr std::array kActivations{
    RecurrentActivationDef{"relu", {Function::kRelu}},
    RecurrentActivationDef{"tanh", {Function::kTanh}},
    RecurrentActivationDef{"sigmoid", {Function::kSigmoid}},
    RecurrentActivationDef{"affine", {Function::kAffine, 1.0F, 0.0F}, true, true},
    RecurrentActivationDef{"leakyrelu", {Function::kLeakyRelu, 0.01F}, true},
    RecurrentActivationDef{"thresholdedrelu", {Function::kThresholdedRelu, 1.0F}, true},
    RecurrentActivationDef{"scaledtanh", {Function::kScaledTanh, 1.0F, 1.0F}, true, true},
    RecurrentActivationDef{"hardsigmoid", {Function::kHardSigmoid, 0.2F, 0.5F}, true, true},
    RecurrentActivationDef{"elu", {Function::kElu, 1.0F}, true},
    RecurrentActivationDef{"softsign", {Function::kSoftsign}},
    RecurrentActivationDef{"softplus", {Function::kSoftplus}},
};

char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename T, typename F>
void Map(T* x, std::int64_t n, const F& f) {
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
}

template <typename T>
void LimitTo(float clip, T* x, std::int64_t n) {
  if (clip == std::numeric_limits<float>::infinity()) return;
  const T bound = static_cast<T>(clip);
  Map(x, n, [bound](T v) {
    const T low = Select(v < -bound, -bound, v);
    return Select(low > bound, bound, low);
  });
}

template <typename T>
void Apply(const RecurrentActivation& activation, float clip, T* x, std::int64_t n) {
  LimitTo(clip, x, n);
  const T alpha = static_cast<T>(activation.alpha);
  const T beta = static_cast<T>(activation.beta);
  switch (activation.function) {
    case Function::kRelu:
      return Map(x, n, [](T v) { return Select(v < T(0), T(0), v); });
    case Function::kTanh:
      return Map(x, n, [](T v) { return Tanh(v); });
    case Function::kSigmoid:
      return Map(x, n, [](T v) { return Sigmoid(v); });
    case Function::kAffine:
      return Map(x, n, [=](T v) { return alpha * v + beta; });
    case Function::kLeakyRelu:
      return Map(x, n, [=](T v) { return Select(v < T(0), alpha * v, v); });
    case Function::kThresholdedRelu:
      return Map(x, n, [=](T v) { return Select(v < alpha, T(0), v); });
    case Function::kScaledTanh:
      return Map(x, n, [=](T v) { return alpha * Tanh(beta * v); });
    case Function::kHardSigmoid:
      return Map(x, n, [=](T v) {
        const T line = alpha * v + beta;
        const T low = Select(line < T(0), T(0), line);
        return Select(low > T(1), T(1), low);
      });
    case Function::kElu:
      return Map(x, n, [=](T v) {
        const T negative = Select(v > T(0), T(0), v);
        return Select(v < T(0), alpha * Expm1NonPositive(negative), v);
      });
    case Function::kSoftsign:
      return Map(x, n, [](T v) { return v / (T(1) + Abs(v)); });
    case Function::kSoftplus:
      return Map(x, n, [](T v) { return Softplus(v); });
  }
}

}  // namespace

const RecurrentActivationDef* FindRecurrentActivation(std::string_view name) {
  const auto at = std::find_if(kActivations.begin(), kActivations.end(), [&](const auto& def) {
    return std::equal(def.name.begin(), def.name.end(), name.begin(), name.end(),
                      [](char lower, char given) { return lower == LowerCase(given); });
  });
  return at == kActivations.end() ? nullptr : &*at;
}

void Limit(float clip, float* x, std::int64_t n) { LimitTo(clip, x, n); }

void Activate(const RecurrentActivation& activation, float clip, float* x, std::int64_t n) {
  Apply(activation, clip, x, n);
}
void Activate(const RecurrentActivation& activation, float clip, double* x, std::int64_t n) {
  Apply(activation, clip, x, n);
}

}  // namespace poprt::kernels
