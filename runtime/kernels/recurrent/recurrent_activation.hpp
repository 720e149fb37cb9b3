#pragma once

#include <cstdint>
#include <string_view>

namespace poprt::kernels {

/// One of the functions that ONNX names for recurrent operators.
struct RecurrentActivation {
  enum class Function : std::uint8_t {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,           ///< alpha x + beta
    kLeakyRelu,        ///< x, alpha x below 0
    kThresholdedRelu,  ///< x, 0 below alpha
    kScaledTanh,       ///< alpha tanh(beta x)
    kHardSigmoid,      ///< alpha x + beta within [0, 1]
    kElu,              ///< x, alpha (e^x - 1) below 0
    kSoftsign,         ///< x / (1 + |x|)
    kSoftplus,         ///< log(1 + e^x)
  };
  Function function = Function::kTanh;
  float alpha = 0;
  float beta = 0;

  bool operator==(const RecurrentActivation&) const = default;
};

/// What a function is called, ignoring case, which of the two numbers it has, and their defaults.
struct RecurrentActivationDef {
  std::string_view name;
  RecurrentActivation defaults;
  bool has_alpha = false;
  bool has_beta = false;
};

/// Null for a name that ONNX does not know.
const RecurrentActivationDef* FindRecurrentActivation(std::string_view name);

/// x[i] limited to [-clip, clip]; infinity is no limit, NaN stays NaN.
void Limit(float clip, float* x, std::int64_t n);

/// x[i] = activation(x[i] limited to [-clip, clip]); NaN stays NaN.
void Activate(const RecurrentActivation& activation, float clip, float* x, std::int64_t n);
void Activate(const RecurrentActivation& activation, float clip, double* x, std::int64_t n);

}  // namespace poprt::kernels
