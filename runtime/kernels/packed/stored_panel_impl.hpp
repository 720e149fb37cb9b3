#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Products of few rows with scaled panels, see scaled_panels.hpp, as they come from the caches, and
// how these and short floats, see short_floats.hpp, are widened for more rows.
namespace poprt::kernels::tile {

/// Panels that come side by side, as many as there are registers for with the sums of so many rows.
template <class V, int kRows>
inline constexpr int kPanelsAtOnce = V::kPanels > 1 || kRows == 1 ? 4 : 2;

/// Of what V::EachScaled gives.
template <class V>
typename V::Register LoadScales(const std::int32_t* line) {
  return V::Mul(V::Load(reinterpret_cast<const float*>(line)), V::Set(0x1p-16F));
}

/// The sums of rows of panels.
template <class V, int kRows, int kPanels>
struct ScaledSums {
  static constexpr int kWidth = kPanels * kVectors<V>;
  typename V::Register sum[kRows][kWidth];

  template <class F>
  [[gnu::always_inline]] static void Each(F f) {
    Unroll<kRows>([&](auto r)
                      POPRT_INLINED { Unroll<kWidth>([&](auto v) POPRT_INLINED { f(r, v); }); });
  }

  /// Adds the products with the first kDepth rows of a line.
  template <int kDepth>
  [[gnu::always_inline]] void Add(const float* a, std::int64_t lda, const std::int32_t* line,
                                  std::int64_t stride) {
    Unroll<kWidth>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::EachScaled(line + kV / kVectors<V> * stride + kV % kVectors<V> * V::kLanes,
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
void ScaledRowsOf(const float* a, std::int64_t lda, const std::int32_t* line, std::int64_t stride,
                  std::int64_t depth, const Tiles& tiles, bool accumulate) {
  using Sums = ScaledSums<V, kRows, kPanels>;
  while (depth > 0) {
    const std::int32_t* const scales = line;
    line += kColumns;
    Sums sums;
    Sums::Each([&](auto r, auto v) POPRT_INLINED { sums.sum[r][v] = V::Zero(); });
    std::int64_t rows = depth < kScaledBlock ? depth : kScaledBlock;
    depth -= rows;
    for (; rows >= 2; rows -= 2, a += 2, line += kColumns) {
      sums.template Add<2>(a, lda, line, stride);
    }
    if (rows > 0) sums.template Add<1>(a, lda, line, stride);
    Sums::Each([&](auto r, auto v) POPRT_INLINED {
      const int panel = v / kVectors<V>;
      const int first = v % kVectors<V> * V::kLanes;
      float* const at = tiles.first + panel * tiles.stride + r * kColumns + first;
      V::Store(V::MulAdd(sums.sum[r][v], LoadScales<V>(scales + panel * stride + first),
                         accumulate ? V::Load(at) : V::Zero()),
               at);
    });
    accumulate = true;
  }
}

/// Any number of panels, kPanels at a time and then half as many.
template <class V, int kRows, int kPanels>
void ScaledRowsFrom(int panel, const float* a, std::int64_t lda, const Panels<std::int32_t>& b,
                    std::int64_t depth, const Tiles& tiles, bool accumulate) {
  for (; panel + kPanels <= b.count; panel += kPanels) {
    ScaledRowsOf<V, kRows, kPanels>(a, lda, b.first + panel * b.stride, b.stride, depth,
                                    {tiles.first + panel * tiles.stride, tiles.stride}, accumulate);
  }
  if constexpr (kPanels > 1) {
    ScaledRowsFrom<V, kRows, kPanels / 2>(panel, a, lda, b, depth, tiles, accumulate);
  }
}

template <class V>
void ScaledRows(int rows, const float* a, std::int64_t lda, const Panels<std::int32_t>& b,
                std::int64_t depth, const Tiles& tiles, bool accumulate) {
  WithRows<kMostScaledRows>(rows, [&](auto constant) POPRT_INLINED {
    constexpr int kRows = decltype(constant)::value;
    ScaledRowsFrom<V, kRows, kPanelsAtOnce<V, kRows>>(0, a, lda, b, depth, tiles, accumulate);
  });
}

template <class V>
void WidenScaled(const std::int32_t* line, std::int64_t depth, float* panel) {
  while (depth > 0) {
    typename V::Register scales[kVectors<V>];
    Unroll<kVectors<V>>([&](auto v)
                            POPRT_INLINED { scales[v] = LoadScales<V>(line + v * V::kLanes); });
    line += kColumns;
    std::int64_t rows = depth < kScaledBlock ? depth : kScaledBlock;
    depth -= rows;
    for (; rows > 0; rows -= 2, line += kColumns, panel += 2 * kColumns) {
      Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
        V::EachScaled(line + v * V::kLanes, [&](auto r, auto row) POPRT_INLINED {
          V::Store(V::Mul(row, scales[v]), panel + r * kColumns + v * V::kLanes);
        });
      });
    }
  }
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
