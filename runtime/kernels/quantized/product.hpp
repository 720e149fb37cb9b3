#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/wide_loops.hpp"

/// Products of matrices of 8-bit elements minus their zero points. Differences are float. Those of
/// integers are summed modulo 2^32, in tiles whose sums of up to kProductDepth products are exact;
/// those of floats in double in a fixed order.
namespace poprt::kernels {

inline constexpr std::int64_t kProductRows = 64;
inline constexpr std::int64_t kProductColumns = 4 * kPanel;
/// As many products of differences of bytes are below 2^24.
inline constexpr std::int64_t kProductDepth = 256;

/// What is multiplied.
inline constexpr TypeSet kFactorTypes = kByteTypes | kFloat8Types;

/// Scratch per worker: a block of columns and one of rows.
inline constexpr std::size_t kProductScratch =
    (kProductColumns + kProductRows) * kProductDepth * sizeof(float);

/// to[i * to_stride] = from[i] - point for n elements of the type the function was found for.
using LoadDifferences = void (*)(const std::byte* from, std::int64_t n, float point, float* to,
                                 std::int64_t to_stride);

/// For kFactorTypes.
inline LoadDifferences FindLoadDifferences(ElementType element) {
  return VisitElement<LoadDifferences, kFactorTypes>(
      element, []<typename T>(std::type_identity<T>) -> LoadDifferences {
        return [](const std::byte* from, std::int64_t n, float point, float* to,
                  std::int64_t to_stride) {
          const T* x = reinterpret_cast<const T*>(from);
          const auto load = [=](auto stride) {
            POPRT_INDEPENDENT_LOOP
            for (std::int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<float>(x[i]) - point;
          };
          if (to_stride == 1) return load(std::integral_constant<std::int64_t, 1>{});
          load(to_stride);
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
          RunWide([=] {
            if (columns < kPanel) std::fill_n(to, n * kPanel, 0.0F);
            for (std::int64_t k = 0; k < n; ++k) {
              const T* row = x + k * stride;
              float* out = to + k * kPanel;
              if (columns == kPanel) {  // a vector
                POPRT_INDEPENDENT_LOOP
                POPRT_LANE_LOOP
                for (std::int64_t c = 0; c < kPanel; ++c) {
                  out[c] = static_cast<float>(row[c]) - points[c];
                }
              } else {
                for (std::int64_t c = 0; c < columns; ++c) {
                  out[c] = static_cast<float>(row[c]) - points[c];
                }
              }
            }
          });
        };
      });
}

/// One zero point.
inline float ReadPoint(LoadDifferences load, const std::byte* points, std::int64_t index) {
  float point = 0;
  if (points != nullptr) load(points + index, 1, 0, &point, 1);
  return point;
}

/// Modulo 2^32.
inline std::int32_t AddSums(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

/// sums[r * kProductColumns + c] += A * B of up to kProductDepth products. Rows of A are
/// kProductDepth apart, B is `panels` panels of 16 columns, kProductDepth * 16 apart.
inline void AddProducts(const float* a, std::int64_t rows, const float* b, std::int64_t panels,
                        std::int64_t depth, std::int32_t* sums) {
  const TileKernels& tiles = BestInnerLoops().tiles;
  constexpr std::int64_t kTile = kTileRows * kPanel;
  constexpr std::int64_t kPanelStride = kProductDepth * kPanel;
  const RowTiles cut(rows);
  float products[kTilePanels * kTile];
  for (std::int64_t p = 0; p < panels; p += tiles.panels) {
    const float* first = b + p * kPanelStride;
    const int count = static_cast<int>(std::min<std::int64_t>(tiles.panels, panels - p));
    for (std::int64_t t = 0; t < cut.count(); ++t) {
      tiles.row_major_f32(static_cast<int>(cut.size(t)), a + cut.begin(t) * kProductDepth,
                          kProductDepth, {first, kPanelStride, count}, depth, first,
                          {products, kTile}, false);
      for (std::int64_t i = 0; i < count * cut.size(t); ++i) {
        const std::int64_t r = i % cut.size(t);
        const std::int64_t panel = i / cut.size(t);
        const float* product = products + panel * kTile + r * kPanel;
        std::int32_t* sum = sums + (cut.begin(t) + r) * kProductColumns + (p + panel) * kPanel;
        for (std::int64_t c = 0; c < kPanel; ++c) {
          sum[c] = AddSums(sum[c], static_cast<std::int32_t>(product[c]));
        }
      }
    }
  }
}
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

/// Extents of `products` products of the same shape.
struct ProductShape {
  std::int64_t products = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};

/// Computes all products, in blocks on the pool. Sum is int32 where both operands are integers, or
/// double.
/// * source.LoadRow(product, row, first, n, float* to): the elements [first, first + n) of a row.
/// * source.LoadColumns(product, column, count, first, n, float* to): the same of `count` columns,
///   as panels of 16 columns, [panel][kProductDepth][16], with zeros behind the last column.
/// * store(product, row, column, count, const Sum* sums): part of a row of the result.
template <typename Sum, typename Source, typename Store>
void RunProducts(const KernelArguments& args, const ProductShape& shape, const Source& source,
                 const Store& store) {
  const std::int64_t row_blocks = (shape.rows - 1) / kProductRows + 1;
  const std::int64_t column_blocks = (shape.columns - 1) / kProductColumns + 1;
  const std::int64_t per_product = row_blocks * column_blocks;
  const auto run_block = [&](std::int64_t product, std::int64_t row, std::int64_t column,
                             float* columns) {
    float* const left = columns + kProductColumns * kProductDepth;
    Sum sums[kProductRows * kProductColumns] = {};
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
