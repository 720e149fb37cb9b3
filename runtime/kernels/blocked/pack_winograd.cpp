#include "runtime/kernels/blocked/pack_winograd.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "runtime/kernels/blocked/winograd_points.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack_elements.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

constexpr std::size_t kTaps = 3;

/// Values of the filter's polynomial at the points, divided by what interpolation multiplies with:
/// a matrix of (points and infinity) x taps.
template <std::size_t kPoints>
using FilterTransform = std::array<std::array<double, kTaps>, kPoints + 1>;

template <std::size_t kPoints>
constexpr FilterTransform<kPoints> FilterTransformAt(const std::array<double, kPoints>& points) {
  FilterTransform<kPoints> transform{};
  for (std::size_t i = 0; i < kPoints; ++i) {
    double divisor = 1;
    for (std::size_t k = 0; k < kPoints; ++k) {
      if (k != i) divisor *= points[i] - points[k];
    }
    transform[i] = {1 / divisor, points[i] / divisor, points[i] * points[i] / divisor};
  }
  transform[kPoints] = {0, 0, 1};
  return transform;
}

constexpr auto kTransform2 = FilterTransformAt(std::array{0.0, kWinogradPoint2, -kWinogradPoint2});
constexpr auto kTransform4 = FilterTransformAt(std::array{
    0.0, kWinogradPoint4Near, -kWinogradPoint4Near, kWinogradPoint4Far, -kWinogradPoint4Far});

/// target[element * stride] = element of G g G^T.
template <std::size_t kSide, typename T>
void TransformFilter(const std::array<std::array<double, kTaps>, kSide>& g, const T* filter,
                     float* target, std::int64_t stride) {
  for (std::size_t row = 0; row < kSide; ++row) {
    std::array<double, kTaps> columns{};
    for (std::size_t i = 0; i < kTaps; ++i) {
      for (std::size_t k = 0; k < kTaps; ++k) {
        columns[k] += g[row][i] * static_cast<double>(static_cast<float>(filter[i * kTaps + k]));
      }
    }
    for (std::size_t column = 0; column < kSide; ++column, target += stride) {
      double sum = 0;
      for (std::size_t k = 0; k < kTaps; ++k) sum += g[column][k] * columns[k];
      *target = static_cast<float>(sum);
    }
  }
}

template <typename T>
void PackFilters(const T* filters, std::int64_t outs, std::int64_t channels, std::int64_t tile,
                 float* packed) {
  const std::int64_t elements = (tile + 2) * (tile + 2);
  const std::int64_t element_stride = channels * kPanel;
  PackColumns(outs, [=](std::int64_t out) {
    const T* filter = filters + out * channels * kTaps * kTaps;
    float* const column = packed + out / kPanel * elements * element_stride + out % kPanel;
    for (std::int64_t channel = 0; channel < channels; ++channel, filter += kTaps * kTaps) {
      float* const target = column + channel * kPanel;
      if (tile == 2) {
        TransformFilter(kTransform2, filter, target, element_stride);
      } else {
        TransformFilter(kTransform4, filter, target, element_stride);
      }
    }
  });
}

}  // namespace

TensorType PackedWinogradType(std::int64_t out_channels, std::int64_t in_channels,
                              std::int64_t tile) {
  Require(tile == 2 || tile == 4,
          "attribute tile is " + std::to_string(tile) + ", allowed are 2 and 4");
  Require(out_channels >= 1 && in_channels >= 1, "a convolution needs channels");
  return {ElementType::kFloat32,
          {out_channels / kPanel + (out_channels % kPanel != 0 ? 1 : 0), (tile + 2) * (tile + 2),
           in_channels, kPanel}};
}

Tensor PackWinogradWeights(const Tensor& w, std::int64_t tile) {
  const Shape& shape = w.shape();
  Require((w.element() == ElementType::kFloat32 || w.element() == ElementType::kFloat16) &&
              shape.size() == 4 && shape[2] == 3 && shape[3] == 3,
          "weights of type " + ToString(w.type()) +
              " cannot be transformed, expected are float32 or float16 filters of 3x3");
  const TensorType type = PackedWinogradType(shape[0], shape[1], tile);
  Require(CheckedElementCount(type.shape).has_value(), "the transformed weights are too large");
  Tensor packed(type);  // zeros
  float* const target = packed.as_mutable<float>().data();
  if (w.element() == ElementType::kFloat32) {
    PackFilters(w.as<float>().data(), shape[0], shape[1], tile, target);
  } else {
    PackFilters(w.as<Float16>().data(), shape[0], shape[1], tile, target);
  }
  return packed;
}

}  // namespace poprt::kernels
