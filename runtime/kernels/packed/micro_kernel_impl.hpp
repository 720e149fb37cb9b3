#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// The micro-kernel of products: sums of some rows by some panels stay in registers over the
// whole depth.
namespace poprt::kernels::tile {

/// Rows of the largest interleaved tile, of which weights are packed.
inline constexpr int kInterleavedRows = kTileRows;

/// sums += A * B for one step of the depth, kWidth registers of each panel.
template <class V, int kWidth, bool kInterleaved, class B, int kRows, int kRowWidth>
[[gnu::always_inline]] inline void RankOneUpdate(const float* a, std::int64_t lda, const B* b,
                                                 std::int64_t panel_stride,
                                                 typename V::Register (&sums)[kRows][kRowWidth]) {
  typename V::Register columns[kRowWidth];
  Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    columns[kV] = V::Load(b + kV / kWidth * panel_stride + kV % kWidth * V::kLanes);
  });
  Unroll<kRows>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::template Repeat<kRowWidth>(kInterleaved ? a + kR : a + kR * lda);
    Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums[kR][kV], factor, columns[kV]);
    });
  });
}

/// Fetches kLines cache lines of each panel from `first` on.
template <Fetching kFetching, int kPanels, int kLines, class B>
[[gnu::always_inline]] inline void Fetch(const B* first, std::int64_t panel_stride) {
  constexpr int kLevel = kFetching == Fetching::kFar ? 2 : 3;
  constexpr std::int64_t kLine = 64 / sizeof(B);
  Unroll<kPanels>([&](auto panel) POPRT_INLINED {
    Unroll<kLines>([&](auto line) POPRT_INLINED {
      __builtin_prefetch(
          first + decltype(panel)::value * panel_stride + decltype(line)::value * kLine, 0, kLevel);
    });
  });
}

/// Fetches the lines of tiles from `first` on, which lie as `tiles` do, long before they are used:
/// stores wait for theirs one after the other, and each row of a result may be in a page of its
/// own.
template <int kRows, int kPanels>
[[gnu::always_inline]] inline void FetchRows(const float* first, const Tiles& tiles) {
  Unroll<kPanels>([&](auto panel) POPRT_INLINED {
    Unroll<kRows>([&](auto row) POPRT_INLINED {
      __builtin_prefetch(first + decltype(panel)::value * tiles.stride +
                         decltype(row)::value * tiles.row_stride);
    });
  });
}

/// Adds what `tiles` tells to, and stores, kWidth registers of each tile.
template <class V, int kWidth, int kRows, int kRowWidth>
[[gnu::always_inline]] inline void StoreTiles(typename V::Register (&sums)[kRows][kRowWidth],
                                              const Tiles& tiles, bool accumulate) {
  float* const first_tile = tiles.first;
  const std::int64_t tile_stride = tiles.stride;
  const std::int64_t row_stride = tiles.row_stride;
  const auto add = [&](const float* first, std::int64_t stride,
                       std::int64_t next_row) POPRT_INLINED {
    Unroll<kRows>([&](auto r) POPRT_INLINED {
      Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
        constexpr int kR = decltype(r)::value;
        constexpr int kV = decltype(v)::value;
        sums[kR][kV] = V::Add(sums[kR][kV], V::Load(first + kV / kWidth * stride + kR * next_row +
                                                    kV % kWidth * V::kLanes));
      });
    });
  };
  if (accumulate) add(first_tile, tile_stride, row_stride);
  if (tiles.bias != nullptr) add(tiles.bias, kColumns, 0);
  if (tiles.residual != nullptr) add(tiles.residual, tile_stride, row_stride);
  Unroll<kRows>([&](auto r) POPRT_INLINED {
    Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
      constexpr int kR = decltype(r)::value;
      constexpr int kV = decltype(v)::value;
      V::Store(sums[kR][kV],
               first_tile + kV / kWidth * tile_stride + kR * row_stride + kV % kWidth * V::kLanes);
    });
  });
}

/// kRows rows times kPanels panels, kWidth registers of each.
template <class V, int kRows, int kPanels, int kWidth, bool kInterleaved, Fetching kFetching,
          class B>
void MicroKernel(const float* a, std::int64_t lda, const Panels<B>& panels, std::int64_t depth,
                 const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  // As many for one panel as for all, and hence the same results.
  constexpr int kAllWidth = V::kPanels * kWidth;
  constexpr int kSums = kInterleaved ? kChains<kRows, kAllWidth> : kChainsOfRows<kRows, kAllWidth>;
  constexpr int kRowWidth = kPanels * kWidth;
  constexpr int kStepOfA = kInterleaved ? kRows : 1;  // NOLINT: the same for one row
  typename V::Register sums[kSums][kRows][kRowWidth];
  const auto each_sum = [](auto f) POPRT_INLINED {
    Unroll<kRows>([&](auto r)
                      POPRT_INLINED { Unroll<kRowWidth>([&](auto v) POPRT_INLINED { f(r, v); }); });
  };
  Unroll<kSums>([&](auto c) POPRT_INLINED {
    each_sum([&](auto r, auto v) POPRT_INLINED {
      sums[decltype(c)::value][decltype(r)::value][decltype(v)::value] = V::Zero();
    });
  });
  FetchRows<kRows, kPanels>(tiles.first, tiles);
  if (tiles.residual != nullptr) FetchRows<kRows, kPanels>(tiles.residual, tiles);
  const B* b = panels.first;
  const B* fetched = ahead.first;
  const std::int64_t step = ahead.step;
  const std::int64_t panel_stride = panels.stride;
  std::int64_t left = depth;
  for (; left >= 4; left -= 4) {
    Unroll<4>([&](auto s) POPRT_INLINED {
      constexpr int kStep = decltype(s)::value;
      RankOneUpdate<V, kWidth, kInterleaved>(a + kStep * kStepOfA, lda, b + kStep * kColumns,
                                             panel_stride, sums[kStep % kSums]);
    });
    // One row, or four panels, pass as fast as they come; the processor itself fetches them ahead.
    if constexpr (kRows > 1 && kPanels < kMostTilePanels) {
      constexpr int kOwnLines = 4 * kColumns * sizeof(B) / 64;
      constexpr int kLines = kFetching == Fetching::kOwn                   ? kOwnLines
                             : kInterleaved || kFetching == Fetching::kFar ? 2
                                                                           : 1;
      constexpr int kFetched = kInterleaved ? 1 : kPanels;  // NOLINT: the same for one panel
      Fetch<kFetching, kFetched, kLines>(fetched, panel_stride);
      fetched += step;
    }
    a += 4 * kStepOfA;
    b += 4 * kColumns;
  }
  for (; left > 0; --left) {
    RankOneUpdate<V, kWidth, kInterleaved>(a, lda, b, panel_stride, sums[0]);
    a += kStepOfA;
    b += kColumns;
  }
  each_sum([&](auto r, auto v) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    constexpr int kV = decltype(v)::value;
    Unroll<kSums - 1>([&](auto c) POPRT_INLINED {
      sums[0][kR][kV] = V::Add(sums[0][kR][kV], sums[decltype(c)::value + 1][kR][kV]);
    });
  });
  StoreTiles<V, kWidth>(sums[0], tiles, accumulate);
}

/// `tiles` from the p-th on.
[[gnu::always_inline]] inline Tiles TilesFrom(Tiles tiles, std::int64_t p) {
  tiles.first += p * tiles.stride;
  if (tiles.bias != nullptr) tiles.bias += p * kColumns;
  if (tiles.residual != nullptr) tiles.residual += p * tiles.stride;
  return tiles;
}

/// More panels than V has registers for at once, by up to six rows that are all there are. Where
/// these leave room for kMostTilePanels, weights come the faster the more of them come at once;
/// else one panel after the other, which saves calls, but two by two rows, whose sums would wait.
template <class V, int kRows, int kWidth, class B>
void MultiplyFewRows(const float* a, std::int64_t lda, const Panels<B>& b, std::int64_t depth,
                     const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  constexpr int kPanels = V::kPanels > 1 ? int{kMostTilePanels} : kRows == 2 ? 2 : 1;
  for (int p = 0; p < b.count; p += kPanels) {
    const std::int64_t at = p * b.stride;
    const Panels<B> panels{b.first + at, b.stride, kPanels};
    const Ahead<B> next{ahead.first + at, ahead.step, ahead.fetching};
    MicroKernel<V, kRows, kPanels, kWidth, false, Fetching::kOwn>(a, lda, panels, depth, next,
                                                                  TilesFrom(tiles, p), accumulate);
  }
}

/// Calls f<fetching>() for the ways of fetching that tiles of kRows rows have.
template <int kRows, bool kInterleaved, class F>
[[gnu::always_inline]] inline void WithFetching(Fetching fetching, F f) {
  if constexpr (!kInterleaved && kRows > 1) {
    if (fetching == Fetching::kFar) return f.template operator()<Fetching::kFar>();
    if (fetching == Fetching::kOwn) return f.template operator()<Fetching::kOwn>();
  }
  f.template operator()<Fetching::kNear>();
}

template <class V, int kMostRows, int kWidth, bool kInterleaved, class B>
void MultiplyRows(int rows, const float* a, std::int64_t lda, const Panels<B>& b,
                  std::int64_t depth, const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  if constexpr (!kInterleaved) {
    if (b.count > V::kPanels) {
      return WithRows<kTileRows>(rows, [&](auto constant) POPRT_INLINED {
        MultiplyFewRows<V, decltype(constant)::value, kWidth>(a, lda, b, depth, ahead, tiles,
                                                              accumulate);
      });
    }
  }
  WithPanels<V>(b.count, [&](auto panels) POPRT_INLINED {
    WithRows<kMostRows>(rows, [&](auto constant) POPRT_INLINED {
      constexpr int kRows = decltype(constant)::value;
      constexpr int kPanels = decltype(panels)::value;
      WithFetching<kRows, kInterleaved>(ahead.fetching, [&]<Fetching kFetching>() POPRT_INLINED {
        MicroKernel<V, kRows, kPanels, kWidth, kInterleaved, kFetching>(a, lda, b, depth, ahead,
                                                                        tiles, accumulate);
      });
    });
  });
}

template <class V, class B>
void RowMajor(int rows, const float* a, std::int64_t lda, const Panels<B>& b, std::int64_t depth,
              const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  MultiplyRows<V, V::kRows, kVectors<V>, false>(rows, a, lda, b, depth, ahead, tiles, accumulate);
}

template <class V, int kWidth>
void Interleaved(int rows, const float* a, const Panels<float>& b, std::int64_t depth,
                 const Ahead<float>& ahead, const Tiles& tiles, bool accumulate) {
  MultiplyRows<V, kInterleavedRows, kWidth, true>(rows, a, 0, b, depth, ahead, tiles, accumulate);
}

}  // namespace poprt::kernels::tile
