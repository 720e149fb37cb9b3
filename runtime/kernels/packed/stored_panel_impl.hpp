#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Products of a row with scaled panels, see scaled_panels.hpp, as they come from the caches, and
// how these and short floats, see short_floats.hpp, are widened for many rows.
namespace poprt::kernels::tile {

/// Of what V::EachScaled gives.
template <class V>
typename V::Register LoadScales(const std::int32_t* line) {
  return V::Mul(V::Load(reinterpret_cast<const float*>(line)), V::Set(0x1p-16F));
}

/// The sums of kPanels panels.
template <class V, int kPanels>
struct ScaledSums {
  static constexpr int kWidth = kPanels * kVectors<V>;
  typename V::Register sum[kWidth];

  /// Adds the products with the first kDepth rows of a line.
  template <int kDepth>
  [[gnu::always_inline]] void Add(const float* a, const std::int32_t* line, std::int64_t stride) {
    Unroll<kWidth>([&](auto v) POPRT_INLINED {
      V::EachScaled(line + v / kVectors<V> * stride + v % kVectors<V> * V::kLanes,
                    [&](auto k, auto row) POPRT_INLINED {
                      if constexpr (k < kDepth) V::Accumulate(sum[v], V::Set(a[k]), row);
                    });
    });
  }
};

template <class V, int kPanels>
void AddScaledRowTo(const float* a, const std::int32_t* line, std::int64_t stride,
                    std::int64_t depth, const Tiles& tiles) {
  using Sums = ScaledSums<V, kPanels>;
  while (depth > 0) {
    const std::int32_t* const scales = line;
    line += kColumns;
    Sums sums;
    Unroll<Sums::kWidth>([&](auto v) POPRT_INLINED { sums.sum[v] = V::Zero(); });
    std::int64_t rows = depth < kScaledBlock ? depth : kScaledBlock;
    depth -= rows;
    for (; rows >= 2; rows -= 2, a += 2, line += kColumns) {
      sums.template Add<2>(a, line, stride);
    }
    if (rows > 0) sums.template Add<1>(a, line, stride);
    Unroll<Sums::kWidth>([&](auto v) POPRT_INLINED {
      constexpr int kPanel = v / kVectors<V>;
      constexpr int kFirst = v % kVectors<V> * V::kLanes;
      float* const at = tiles.first + kPanel * tiles.stride + kFirst;
      const auto scale = LoadScales<V>(scales + kPanel * stride + kFirst);
      V::Store(V::MulAdd(sums.sum[v], scale, V::Load(at)), at);
    });
  }
}

/// From a panel on, kPanels at a time and then half as many.
template <class V, int kPanels>
void AddScaledRowFrom(int panel, const float* a, const Panels<std::int32_t>& b, std::int64_t depth,
                      const Tiles& tiles) {
  for (; panel + kPanels <= b.count; panel += kPanels) {
    AddScaledRowTo<V, kPanels>(a, b.first + panel * b.stride, b.stride, depth,
                               {tiles.first + panel * tiles.stride, tiles.stride});
  }
  if constexpr (kPanels > 1) AddScaledRowFrom<V, kPanels / 2>(panel, a, b, depth, tiles);
}

template <class V>
void AddScaledRow(const float* a, const Panels<std::int32_t>& b, std::int64_t depth,
                  const Tiles& tiles) {
  AddScaledRowFrom<V, kMostTilePanels>(0, a, b, depth, tiles);
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
