#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/tensor/tensor.hpp"

/// Weights of 16 bits: what stands for float16 and bfloat16 in products with integers, see
/// pack_integers.hpp.
namespace poprt::kernels {

/// A matrix or its transpose, by column.
struct WeightMatrix {
  WeightMatrix(const Tensor& w, bool transposed)
      : depth(w.shape()[transposed ? 1 : 0]),
        columns(w.shape()[transposed ? 0 : 1]),
        data(reinterpret_cast<const float*>(w.data())),
        row_stride(transposed ? 1 : columns),
        column_stride(transposed ? depth : 1) {}

  float at(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }

  std::int64_t depth;
  std::int64_t columns;
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Numbers that were quantised have more. Others, which select, count or average, say, are left as
/// they are: their products are expected to be exact.
inline constexpr std::size_t kFewestMagnitudes = 6;

/// Whether every number was rounded to float16 or bfloat16, or may as well have been, and there are
/// kFewestMagnitudes of them.
bool WasRounded(const WeightMatrix& w);

/// The least power of two of which a part of a column are multiples of 16 bits, when they are
/// rounded, that sum up to at most kMostWideSum; nothing where a number is not finite. count is at
/// most kWideBlock.
std::optional<float> WideScaleOf(const WeightMatrix& w, std::int64_t column, std::int64_t first,
                                 std::int64_t count);

/// Whether rounding to 16 bits leaves of every row what matters, also of those that are smaller
/// than their neighbours because they meet larger numbers. Numbers must be finite.
bool KeepsRows(const WeightMatrix& w, std::int64_t block);

/// Writes the mean squares of rows, by the largest, as float32.
void PackPowers(const WeightMatrix& w, std::int64_t block, std::byte* to);

}  // namespace poprt::kernels
