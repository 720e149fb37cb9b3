#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Panels of short floats, see short_floats.hpp: products of one row with them, for which up to four
// come from the caches side by side, and how they are widened for more rows.
namespace poprt::kernels::tile {

/// The sums of a row of panels.
template <class V, int kPanels>
struct ShortSums {
  static constexpr int kVectorsOfRow = kPanels * kVectors<V>;
  typename V::Register sum[kVectorsOfRow];

  /// Adds the products with the first kRows rows of a group.
  template <int kRows>
  [[gnu::always_inline]] void Add(const float* a, const std::uint32_t* lines, std::int64_t stride) {
    Unroll<kVectorsOfRow>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::EachShort(lines + kV / kVectors<V> * stride + kV % kVectors<V> * V::kLanes,
                   [&](auto r, auto row) POPRT_INLINED {
                     if constexpr (r < kRows) V::Accumulate(sum[kV], V::Set(a[r]), row);
                   });
    });
  }
};

template <class V, int kPanels>
void ShortRowOf(const float* a, const Panels<std::uint32_t>& b, std::int64_t depth,
                const Tiles& tiles, bool accumulate) {
  using Sums = ShortSums<V, kPanels>;
  Sums sums;
  Unroll<Sums::kVectorsOfRow>([&](auto v)
                                  POPRT_INLINED { sums.sum[decltype(v)::value] = V::Zero(); });
  const std::uint32_t* lines = b.first;
  for (; depth >= 4; depth -= 4) {
    sums.template Add<4>(a, lines, b.stride);
    a += 4;
    lines += 3 * kColumns;
  }
  if (depth == 1) sums.template Add<1>(a, lines, b.stride);
  if (depth == 2) sums.template Add<2>(a, lines, b.stride);
  if (depth == 3) sums.template Add<3>(a, lines, b.stride);
  Unroll<Sums::kVectorsOfRow>([&](auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    float* const at = tiles.first + kV / kVectors<V> * tiles.stride + kV % kVectors<V> * V::kLanes;
    V::Store(accumulate ? V::Add(V::Load(at), sums.sum[kV]) : sums.sum[kV], at);
  });
}

template <class V>
void ShortRow(const float* a, const Panels<std::uint32_t>& b, std::int64_t depth,
              const Tiles& tiles, bool accumulate) {
  if (b.count == 4) return ShortRowOf<V, 4>(a, b, depth, tiles, accumulate);
  if (b.count == 2) return ShortRowOf<V, 2>(a, b, depth, tiles, accumulate);
  ShortRowOf<V, 1>(a, b, depth, tiles, accumulate);
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
