#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

/// A matrix inside a tensor: element (row, column) stands at row * row_stride + column *
/// column_stride. Stride 0 repeats.
struct MatrixLayout {
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// rows x columns = (rows x depth) * (depth x columns), every extent >= 0.
struct GemmShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  MatrixLayout a;
  MatrixLayout b;
};

/// Rows and columns of the blocks that make one task.
inline constexpr std::int64_t kGemmRows = 64;
inline constexpr std::int64_t kGemmColumns = 64;

/// One block of a matrix product for any type and layout. Every element is summed in the order of
/// depth in Accumulator<T>, whatever the blocking; the result is what a triple loop gives.
template <typename T>
class GemmBlock {
 public:
  using Acc = Accumulator<T>;

  /// Computes rows [row, row + kGemmRows) and columns [column, column + kGemmColumns) and hands
  /// each sum to store(row, column, sum).
  template <typename Store>
  static void Run(const GemmShape& shape, const T* a, const T* b, std::int64_t row,
                  std::int64_t column, const Store& store) {
    const std::int64_t rows = std::min(kGemmRows, shape.rows - row);
    const std::int64_t columns = std::min(kGemmColumns, shape.columns - column);
    a += row * shape.a.row_stride;
    b += column * shape.b.column_stride;
    if (rows == 1 && shape.b.column_stride == 1) {
      return RunRow(shape, a, b, columns,
                    [&](std::int64_t j, Acc sum) { store(row, column + j, sum); });
    }
    std::array<Acc, kGemmRows * kGemmColumns> sums{};
    for (std::int64_t k = 0; k < shape.depth; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, shape.depth - k);
      std::array<Acc, kDepth * kGemmRows> strips;
      for (std::int64_t i = 0; i < rows; i += kHeight) {
        Pack<kHeight>(a + i * shape.a.row_stride + k * shape.a.column_stride, shape.a.column_stride,
                      shape.a.row_stride, depth, std::min(kHeight, rows - i),
                      &strips[At(i * kDepth)]);
      }
      for (std::int64_t j = 0; j < columns; j += kWidth) {
        std::array<Acc, kDepth * kWidth> panel;
        Pack<kWidth>(b + j * shape.b.column_stride + k * shape.b.row_stride, shape.b.row_stride,
                     shape.b.column_stride, depth, std::min(kWidth, columns - j), panel.data());
        for (std::int64_t i = 0; i < rows; i += kHeight) {
          Multiply(&strips[At(i * kDepth)], panel.data(), depth,
                   &sums[At(j * kGemmRows + i * kWidth)]);
        }
      }
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t panel = j / kWidth * kWidth;
        store(row + i, column + j, sums[At(panel * kGemmRows + i * kWidth + j - panel)]);
      }
    }
  }

 private:
  static std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// One row: there is nothing to gain from packing what is read once.
  template <typename Store>
  static void RunRow(const GemmShape& shape, const T* a, const T* b, std::int64_t columns,
                     const Store& store) {
    Acc sums[kGemmColumns] = {};
    for (std::int64_t k = 0; k < shape.depth; ++k) {
      const Acc factor = static_cast<Acc>(a[k * shape.a.column_stride]);
      const T* from = b + k * shape.b.row_stride;
      if (columns == kGemmColumns) {
        POPRT_LANE_LOOP
        for (std::int64_t j = 0; j < kGemmColumns; ++j) {
          sums[j] += factor * static_cast<Acc>(from[j]);
        }
      } else {
        for (std::int64_t j = 0; j < columns; ++j) sums[j] += factor * static_cast<Acc>(from[j]);
      }
    }
    for (std::int64_t j = 0; j < columns; ++j) store(j, sums[j]);
  }

  static constexpr std::int64_t kHeight = 4;
  // The width of the baseline's vector registers.
  using Vector [[gnu::vector_size(16), gnu::aligned(alignof(Acc)), gnu::may_alias]] = Acc;
  static constexpr std::int64_t kWidth = 2 * 16 / static_cast<std::int64_t>(sizeof(Acc));
  static constexpr std::int64_t kDepth = 128;

  /// `lanes` of up to kLanes numbers for every step of depth, widened and filled up with zeros.
  template <std::int64_t kLanes>
  static void Pack(const T* from, std::int64_t depth_stride, std::int64_t lane_stride,
                   std::int64_t depth, std::int64_t lanes, Acc* to) {
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t i = 0; i < lanes; ++i) {
        to[k * kLanes + i] = static_cast<Acc>(from[k * depth_stride + i * lane_stride]);
      }
      for (std::int64_t i = lanes; i < kLanes; ++i) to[k * kLanes + i] = Acc{};
    }
  }

  /// Sums of kHeight x kWidth elements, held in two vector registers per row.
  static void Multiply(const Acc* strip, const Acc* panel, std::int64_t depth, Acc* sums) {
    auto* rows = reinterpret_cast<Vector*>(sums);
    const auto* steps = reinterpret_cast<const Vector*>(panel);
    Vector r00 = rows[0], r01 = rows[1];
    Vector r10 = rows[2], r11 = rows[3];
    Vector r20 = rows[4], r21 = rows[5];
    Vector r30 = rows[6], r31 = rows[7];
    for (std::int64_t k = 0; k < depth; ++k, strip += kHeight, steps += 2) {
      const Vector left = steps[0];
      const Vector right = steps[1];
      r00 += strip[0] * left;
      r01 += strip[0] * right;
      r10 += strip[1] * left;
      r11 += strip[1] * right;
      r20 += strip[2] * left;
      r21 += strip[2] * right;
      r30 += strip[3] * left;
      r31 += strip[3] * right;
    }
    rows[0] = r00, rows[1] = r01;
    rows[2] = r10, rows[3] = r11;
    rows[4] = r20, rows[5] = r21;
    rows[6] = r30, rows[7] = r31;
  }
};

}  // namespace poprt::kernels
