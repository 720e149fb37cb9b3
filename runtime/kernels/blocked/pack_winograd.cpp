#include "runtime/kernels/blocked/pack_winograd.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "runtime/kernels/blocked/winograd_filter.hpp"
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

// Of an axis whose single taps are parts.
constexpr FilterTransform<0> kTransform1{{{1, 0, 0}}};
constexpr auto kTransform2 = FilterTransformAt(std::array{0.0, kWinogradPoint2, -kWinogradPoint2});
constexpr auto kTransform4 = FilterTransformAt(std::array{
    0.0, kWinogradPoint4Near, -kWinogradPoint4Near, kWinogradPoint4Far, -kWinogradPoint4Far});

/// A row for every element along an axis.
using TransformRows = std::span<const std::array<double, kTaps>>;

TransformRows TransformOf(const WinogradAxis& axis) {
  if (axis.tile == 1) return kTransform1;
  if (axis.tile == 2) return kTransform2;
  return kTransform4;
}

using Taps = std::array<std::array<double, kTaps>, kTaps>;

/// A part of a filter of extents `kernel`, zeros behind its last taps.
template <typename T>
Taps PartOf(const T* filter, const Ints& kernel, const WinogradFilter& shape, std::int64_t part) {
  Taps taps{};
  const std::int64_t first_row = part / shape.columns.parts * shape.rows.taps;
  const std::int64_t first_column = part % shape.columns.parts * shape.columns.taps;
  const std::int64_t rows = std::min(shape.rows.taps, kernel[0] - first_row);
  const std::int64_t columns = std::min(shape.columns.taps, kernel[1] - first_column);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      const T tap = filter[(first_row + i) * kernel[1] + first_column + k];
      taps[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] =
          static_cast<double>(static_cast<float>(tap));
    }
  }
  return taps;
}

/// target[element * stride] = element of R g C^T.
void TransformPart(TransformRows of_rows, TransformRows of_columns, const Taps& g, float* target,
                   std::int64_t stride) {
  for (const auto& row : of_rows) {
    std::array<double, kTaps> columns{};
    for (std::size_t i = 0; i < kTaps; ++i) {
      for (std::size_t k = 0; k < kTaps; ++k) columns[k] += row[i] * g[i][k];
    }
    for (const auto& column : of_columns) {
      double sum = 0;
      for (std::size_t k = 0; k < kTaps; ++k) sum += column[k] * columns[k];
      *target = static_cast<float>(sum);
      target += stride;
    }
  }
}

template <typename T>
void PackFilters(const T* filters, const Shape& shape, std::int64_t tile, float* packed) {
  const std::int64_t channels = shape[1];
  const Ints kernel{shape[2], shape[3]};
  const WinogradFilter parts = RequireWinogradFilter(kernel, tile);
  const std::int64_t taps = kernel[0] * kernel[1];
  const std::int64_t element_stride = parts.parts() * channels * kPanel;
  PackColumns(shape[0], [=](std::int64_t out) {
    const T* filter = filters + out * channels * taps;
    float* const column = packed + out / kPanel * parts.elements() * element_stride + out % kPanel;
    for (std::int64_t channel = 0; channel < channels; ++channel, filter += taps) {
      for (std::int64_t part = 0; part < parts.parts(); ++part) {
        TransformPart(TransformOf(parts.rows), TransformOf(parts.columns),
                      PartOf(filter, kernel, parts, part),
                      column + (part * channels + channel) * kPanel, element_stride);
      }
    }
  });
}

}  // namespace

TensorType PackedWinogradType(std::int64_t out_channels, std::int64_t in_channels,
                              const Ints& kernel, std::int64_t tile) {
  const WinogradFilter filter = RequireWinogradFilter(kernel, tile);
  Require(out_channels >= 1 && in_channels >= 1, "a convolution needs channels");
  const auto depth = CheckedElementCount({filter.parts(), in_channels});
  Require(depth.has_value(), "the transformed weights are too large");
  return {ElementType::kFloat32,
          {out_channels / kPanel + (out_channels % kPanel != 0 ? 1 : 0), filter.elements(), *depth,
           kPanel}};
}

Tensor PackWinogradWeights(const Tensor& w, std::int64_t tile) {
  const Shape& shape = w.shape();
  Require((w.element() == ElementType::kFloat32 || w.element() == ElementType::kFloat16) &&
              shape.size() == 4,
          "weights of type " + ToString(w.type()) +
              " cannot be transformed, expected are float32 or float16 filters of images");
  const TensorType type = PackedWinogradType(shape[0], shape[1], {shape[2], shape[3]}, tile);
  Require(CheckedElementCount(type.shape).has_value(), "the transformed weights are too large");
  Tensor packed(type);  // zeros
  float* const target = packed.as_mutable<float>().data();
  if (w.element() == ElementType::kFloat32) {
    PackFilters(w.as<float>().data(), shape, tile, target);
  } else {
    PackFilters(w.as<Float16>().data(), shape, tile, target);
  }
  return packed;
}

}  // namespace poprt::kernels
