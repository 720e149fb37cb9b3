#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Panels of short floats, see short_floats.hpp: products of few rows with them as they come from
// the caches, and how they are widened for more rows.
namespace poprt::kernels::tile {

/// Panels that come side by side, as many as there are registers for with the sums of so many rows.
template <class V, int kRows>
inline constexpr int kShortPanels = V::kPanels > 1 || kRows == 1 ? 4 : 2;

/// The sums of rows of panels.
template <class V, int kRows, int kPanels>
struct ShortSums {
  static constexpr int kWidth = kPanels * kVectors<V>;
  typename V::Register sum[kRows][kWidth];

  template <class F>
  [[gnu::always_inline]] static void Each(F f) {
    Unroll<kRows>([&](auto r)
                      POPRT_INLINED { Unroll<kWidth>([&](auto v) POPRT_INLINED { f(r, v); }); });
  }

  /// Adds the products with the first kDepth rows of a group.
  template <int kDepth>
  [[gnu::always_inline]] void Add(const float* a, std::int64_t lda, const std::uint32_t* lines,
                                  std::int64_t stride) {
    Unroll<kWidth>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::EachShort(lines + kV / kVectors<V> * stride + kV % kVectors<V> * V::kLanes,
                   [&](auto k, auto row) POPRT_INLINED {
                     if constexpr (k < kDepth) {
                       Unroll<kRows>([&](auto r) POPRT_INLINED {
                         V::Accumulate(sum[r][kV], V::Set(a[r * lda + k]), row);
                       });
                     }
                   });
    });
  }
};

template <class V, int kRows, int kPanels>
void ShortRowsOf(const float* a, std::int64_t lda, const std::uint32_t* lines, std::int64_t stride,
                 std::int64_t depth, const Tiles& tiles, bool accumulate) {
  using Sums = ShortSums<V, kRows, kPanels>;
  Sums sums;
  Sums::Each([&](auto r, auto v) POPRT_INLINED { sums.sum[r][v] = V::Zero(); });
  for (; depth >= 4; depth -= 4) {
    sums.template Add<4>(a, lda, lines, stride);
    a += 4;
    lines += 3 * kColumns;
  }
  if (depth == 1) sums.template Add<1>(a, lda, lines, stride);
  if (depth == 2) sums.template Add<2>(a, lda, lines, stride);
  if (depth == 3) sums.template Add<3>(a, lda, lines, stride);
  Sums::Each([&](auto r, auto v) POPRT_INLINED {
    float* const at =
        tiles.first + v / kVectors<V> * tiles.stride + r * kColumns + v % kVectors<V> * V::kLanes;
    V::Store(accumulate ? V::Add(V::Load(at), sums.sum[r][v]) : sums.sum[r][v], at);
  });
}

/// Any number of panels, kPanels at a time and then half as many.
template <class V, int kRows, int kPanels>
void ShortRowsFrom(int panel, const float* a, std::int64_t lda, const Panels<std::uint32_t>& b,
                   std::int64_t depth, const Tiles& tiles, bool accumulate) {
  for (; panel + kPanels <= b.count; panel += kPanels) {
    ShortRowsOf<V, kRows, kPanels>(a, lda, b.first + panel * b.stride, b.stride, depth,
                                   {tiles.first + panel * tiles.stride, tiles.stride}, accumulate);
  }
  if constexpr (kPanels > 1) {
    ShortRowsFrom<V, kRows, kPanels / 2>(panel, a, lda, b, depth, tiles, accumulate);
  }
}

template <class V>
void ShortRows(int rows, const float* a, std::int64_t lda, const Panels<std::uint32_t>& b,
               std::int64_t depth, const Tiles& tiles, bool accumulate) {
  WithRows<kMostShortRows>(rows, [&](auto constant) POPRT_INLINED {
    constexpr int kRows = decltype(constant)::value;
    ShortRowsFrom<V, kRows, kShortPanels<V, kRows>>(0, a, lda, b, depth, tiles, accumulate);
  });
}

template <class V>
void WidenShort(const std::uint32_t* lines, std::int64_t depth, float* panel) {
  for (; depth > 0; depth -= 4, lines += 3 * kColumns, panel += 4 * kColumns) {
    Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
      constexpr int kFirst = decltype(v)::value * V::kLanes;
      V::EachShort(lines + kFirst, [&](auto r, auto row) POPRT_INLINED {
        V::Store(row, panel + r * kColumns + kFirst);
      });
    });
  }
}

}  // namespace poprt::kernels::tile
