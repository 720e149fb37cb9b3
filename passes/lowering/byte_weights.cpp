#include "passes/lowering/byte_weights.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/kernels/quantized/pack_integers.hpp"

namespace poprt::passes {

std::optional<ByteWeights> ByteWeightsOf(const Tensor& weights, bool channels_first,
                                         float of_zeros) {
  if (weights.element() != ElementType::kFloat32 || weights.count() == 0) return {};
  const std::int64_t channels = channels_first ? weights.shape().front() : weights.shape().back();
  const std::int64_t products = weights.count() / channels;
  const Shape matrix = channels_first ? Shape{channels, products} : Shape{products, channels};
  auto scales =
      kernels::ByteScales(weights.WithType({ElementType::kFloat32, matrix}), channels_first);
  if (!scales) return {};

  const auto from = weights.as<float>();
  const auto channel_of = [=](std::size_t i) {
    return i / static_cast<std::size_t>(channels_first ? products : 1) %
           static_cast<std::size_t>(channels);
  };
  std::vector<bool> is_zero(scales->size(), true);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 0) is_zero[channel_of(i)] = false;
  }
  for (std::size_t c = 0; c < scales->size(); ++c) {
    if (is_zero[c]) (*scales)[c] = of_zeros;
  }
  Tensor integers({ElementType::kInt8, weights.shape()});
  const auto to = integers.as_mutable<std::int8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<std::int8_t>(std::nearbyint(from[i] / (*scales)[channel_of(i)]));
  }
  return ByteWeights{std::move(integers), *std::move(scales)};
}

}  // namespace poprt::passes
