#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/wide_loops.hpp"

/// Products of matrices of 8-bit elements minus their zero points: differences of integers as int16
/// summed modulo 2^32, differences of floats as float summed in double in a fixed order.
namespace poprt::kernels {

template <typename E>
using ProductSum = std::conditional_t<std::is_same_v<E, float>, double, std::int32_t>;

inline constexpr std::int64_t kProductRows = 64;
inline constexpr std::int64_t kProductColumns = 32;
inline constexpr std::int64_t kProductDepth = 1024;

/// Scratch per worker: a block of columns, and a row.
template <typename E>
constexpr std::size_t kProductScratch = static_cast<std::size_t>((kProductColumns + 1) *
                                                                 kProductDepth) *
                                        sizeof(E);

/// to[i * to_stride] = from[i * stride] - point for n elements; strides and `from` count elements
/// of the type the function was found for.
template <typename E>
using LoadDifferences = void (*)(const std::byte* from, std::int64_t stride, std::int64_t n,
                                 E point, E* to, std::int64_t to_stride);

/// For int8 and uint8 if E is int16, else for all types of 8 bits that are multiplied.
template <typename E>
LoadDifferences<E> FindLoadDifferences(ElementType element) {
  constexpr TypeSet kBytes = Types({ElementType::kInt8, ElementType::kUint8});
  constexpr TypeSet kTypes = std::is_same_v<E, float> ? kBytes | kFloat8Types : kBytes;
  return VisitElement<LoadDifferences<E>, kTypes>(
      element, []<typename T>(std::type_identity<T>) -> LoadDifferences<E> {
        return [](const std::byte* from, std::int64_t stride, std::int64_t n, E point, E* to,
                  std::int64_t to_stride) {
          const T* x = reinterpret_cast<const T*>(from);
          if (stride == 1 && to_stride == 1) {
            for (std::int64_t i = 0; i < n; ++i)
              to[i] = static_cast<E>(static_cast<E>(x[i]) - point);
          } else {
            for (std::int64_t i = 0; i < n; ++i) {
              to[i * to_stride] = static_cast<E>(static_cast<E>(x[i * stride]) - point);
            }
          }
        };
      });
}

/// One zero point, as E.
template <typename E>
E ReadPoint(LoadDifferences<E> load, const std::byte* points, std::int64_t index) {
  E point{};
  if (points != nullptr) load(points + index, 1, 1, E{}, &point, 1);
  return point;
}

/// The sum of n <= kProductDepth products. Of int16 differences it is below 2^27.
inline std::int32_t DotProduct(const std::int16_t* a, const std::int16_t* b, std::int64_t n) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
inline double DotProduct(const float* a, const float* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

inline std::int32_t AddSums(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline double AddSums(double a, double b) { return a + b; }

/// Extents of `products` products of the same shape.
struct ProductShape {
  std::int64_t products = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};

/// Computes all products, in blocks on the pool.
/// * source.LoadRow(product, row, first, n, E* to): the elements [first, first + n) of a row.
/// * source.LoadColumns(product, column, count, first, n, E* to): the same of `count` columns, each
///   kProductDepth behind the one before.
/// * store(product, row, column, count, const ProductSum<E>* sums): part of a row of the result.
template <typename E, typename Source, typename Store>
void RunProducts(const KernelArguments& args, const ProductShape& shape, const Source& source,
                 const Store& store) {
  using Sum = ProductSum<E>;
  const std::int64_t row_blocks = (shape.rows - 1) / kProductRows + 1;
  const std::int64_t column_blocks = (shape.columns - 1) / kProductColumns + 1;
  const std::int64_t per_product = row_blocks * column_blocks;
  const auto run_block = [&](std::int64_t product, std::int64_t row, std::int64_t column,
                             E* columns) {
    E* const left = columns + kProductColumns * kProductDepth;
    Sum sums[kProductRows * kProductColumns] = {};
    const std::int64_t rows = std::min(kProductRows, shape.rows - row);
    const std::int64_t count = std::min(kProductColumns, shape.columns - column);
    for (std::int64_t first = 0; first < shape.depth; first += kProductDepth) {
      const std::int64_t n = std::min(kProductDepth, shape.depth - first);
      source.LoadColumns(product, column, count, first, n, columns);
      for (std::int64_t r = 0; r < rows; ++r) {
        source.LoadRow(product, row + r, first, n, left);
        Sum* sum = sums + r * kProductColumns;
        for (std::int64_t c = 0; c < count; ++c) {
          sum[c] = AddSums(sum[c], DotProduct(left, columns + c * kProductDepth, n));
        }
      }
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
                  auto* scratch = reinterpret_cast<E*>(
                      args.scratch + static_cast<std::size_t>(worker) * kProductScratch<E>);
                  for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t block = i % per_product;
                    run_block(i / per_product, block / column_blocks * kProductRows,
                              block % column_blocks * kProductColumns, scratch);
                  }
                });
}

}  // namespace poprt::kernels
