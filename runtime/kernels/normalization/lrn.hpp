#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"

/// What local response normalisation of every layout shares: y = x / (bias + scale * sum)^beta,
/// where the sum is of the squares of the channels from `before` lower ones to `after` higher ones.
namespace poprt::kernels {

struct LrnParameters {
  std::int64_t before;  ///< fewer than there are channels, as `after`
  std::int64_t after;
  double scale;
  double beta;
  double bias;
};

/// Throws KernelError unless the attribute `size` is at least 1. `channels` is at least 1.
inline LrnParameters RequireLrn(const KernelCall& call, std::int64_t channels) {
  Require(call.attributes.has("size"), "attribute 'size' is missing");
  const std::int64_t size = IntAttribute(call, "size", 1);
  Require(size >= 1, "attribute 'size' is " + std::to_string(size) + ", expected at least 1");
  return {.before = std::min((size - 1) / 2, channels - 1),
          .after = std::min(size / 2, channels - 1),
          .scale =
              static_cast<double>(FloatAttribute(call, "alpha", 1e-4F)) / static_cast<double>(size),
          .beta = static_cast<double>(FloatAttribute(call, "beta", 0.75F)),
          .bias = static_cast<double>(FloatAttribute(call, "bias", 1.0F))};
}

/// Normalises n values with the sums of their squares, in their own precision. Called where loops
/// are compiled for every instruction set.
template <typename C>
[[gnu::always_inline]] inline void NormalizeBySums(const LrnParameters& lrn, const C* sums,
                                                   std::int64_t n, C* values) {
  if (lrn.beta == 0.75) {  // the exponent of nearly all models
    const C bias = static_cast<C>(lrn.bias);
    const C scale = static_cast<C>(lrn.scale);
    for (std::int64_t i = 0; i < n; ++i) {
      const C root = std::sqrt(bias + scale * sums[i]);
      values[i] /= root * std::sqrt(root);
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    values[i] = static_cast<C>(values[i] * std::pow(lrn.bias + lrn.scale * sums[i], -lrn.beta));
  }
}

}  // namespace poprt::kernels
