#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/quantized/product_shape.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/wide_loops.hpp"

/// Products of matrices of 8-bit elements, floats among them, minus their zero points. Differences
/// are float, summed in double in a fixed order.
namespace poprt::kernels {

inline constexpr std::int64_t kProductRows = 64;
inline constexpr std::int64_t kProductColumns = 4 * kPanel;
inline constexpr std::int64_t kProductDepth = 256;

/// What is multiplied.
inline constexpr TypeSet kFactorTypes = kByteTypes | kFloat8Types;

/// Scratch per worker: a block of columns and one of rows.
inline constexpr std::size_t kProductScratch =
    (kProductColumns + kProductRows) * kProductDepth * sizeof(float);

/// to[i] = from[i] - point for n elements of the type the function was found for.
using LoadDifferences = void (*)(const std::byte* from, std::int64_t n, float point, float* to);

/// For kFactorTypes.
inline LoadDifferences FindLoadDifferences(ElementType element) {
  return VisitElement<LoadDifferences, kFactorTypes>(
      element, []<typename T>(std::type_identity<T>) -> LoadDifferences {
        return [](const std::byte* from, std::int64_t n, float point, float* to) {
          const T* x = reinterpret_cast<const T*>(from);
          for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(x[i]) - point;
        };
      });
}

/// to[k * 16 + c] = from[k * stride + c] - points[c] for c < columns <= 16 and k < n, 0 for the
/// other columns.
using LoadPanel = void (*)(const std::byte* from, std::int64_t stride, std::int64_t n,
                           std::int64_t columns, const float* points, float* to);

/// For kFactorTypes.
inline LoadPanel FindLoadPanel(ElementType element) {
  return VisitElement<LoadPanel, kFactorTypes>(
      element, []<typename T>(std::type_identity<T>) -> LoadPanel {
        return [](const std::byte* from, std::int64_t stride, std::int64_t n, std::int64_t columns,
                  const float* points, float* to) {
          const T* x = reinterpret_cast<const T*>(from);
          std::fill_n(to, n * kPanel, 0.0F);
          for (std::int64_t k = 0; k < n; ++k) {
            for (std::int64_t c = 0; c < columns; ++c) {
              to[k * kPanel + c] = static_cast<float>(x[k * stride + c]) - points[c];
            }
          }
        };
      });
}

/// One zero point.
inline float ReadPoint(LoadDifferences load, const std::byte* points, std::int64_t index) {
  float point = 0;
  if (points != nullptr) load(points + index, 1, 0, &point);
  return point;
}

/// sums[r * kProductColumns + c] += A * B of up to kProductDepth products. Rows of A are
/// kProductDepth apart, B is `panels` panels of 16 columns, kProductDepth * 16 apart.
inline void AddProducts(const float* a, std::int64_t rows, const float* b, std::int64_t panels,
                        std::int64_t depth, double* sums) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t p = 0; p < panels * kPanel; p += kPanel) {
      double products[kPanel] = {};
      for (std::int64_t k = 0; k < depth; ++k) {
        const double factor = a[r * kProductDepth + k];
        const float* row = b + p * kProductDepth + k * kPanel;
        for (std::int64_t c = 0; c < kPanel; ++c) products[c] += factor * row[c];
      }
      for (std::int64_t c = 0; c < kPanel; ++c) sums[r * kProductColumns + p + c] += products[c];
    }
  }
}

/// Computes all products, in blocks on the pool.
/// * source.LoadRow(product, row, first, n, float* to): the elements [first, first + n) of a row.
/// * source.LoadColumns(product, column, count, first, n, float* to): the same of `count` columns,
///   as panels of 16 columns, [panel][kProductDepth][16], with zeros behind the last column.
/// * store(product, row, column, count, const double* sums): part of a row of the result.
template <typename Source, typename Store>
void RunProducts(const KernelArguments& args, const ProductShape& shape, const Source& source,
                 const Store& store) {
  const std::int64_t row_blocks = (shape.rows - 1) / kProductRows + 1;
  const std::int64_t column_blocks = (shape.columns - 1) / kProductColumns + 1;
  const std::int64_t per_product = row_blocks * column_blocks;
  const auto run_block = [&](std::int64_t product, std::int64_t row, std::int64_t column,
                             float* columns) {
    float* const left = columns + kProductColumns * kProductDepth;
    double sums[kProductRows * kProductColumns] = {};
    const std::int64_t rows = std::min(kProductRows, shape.rows - row);
    const std::int64_t count = std::min(kProductColumns, shape.columns - column);
    for (std::int64_t first = 0; first < shape.depth; first += kProductDepth) {
      const std::int64_t n = std::min(kProductDepth, shape.depth - first);
      source.LoadColumns(product, column, count, first, n, columns);
      for (std::int64_t r = 0; r < rows; ++r) {
        source.LoadRow(product, row + r, first, n, left + r * kProductDepth);
      }
      AddProducts(left, rows, columns, (count - 1) / kPanel + 1, n, sums);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      store(product, row + r, column, count, sums + r * kProductColumns);
    }
  };
  const std::int64_t cost = std::min(shape.rows, kProductRows) *
                            std::min(shape.columns, kProductColumns) *
                            std::max<std::int64_t>(1, shape.depth / 8);
  ForWideRanges(args.pool, shape.products * per_product, GrainFor(cost),
                [&](std::int64_t begin, std::int64_t end, int worker) {
                  auto* scratch = reinterpret_cast<float*>(
                      args.scratch + static_cast<std::size_t>(worker) * kProductScratch);
                  for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t block = i % per_product;
                    run_block(i / per_product, block / column_blocks * kProductRows,
                              block % column_blocks * kProductColumns, scratch);
                  }
                });
}

}  // namespace poprt::kernels
