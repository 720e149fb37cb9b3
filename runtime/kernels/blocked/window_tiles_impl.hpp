#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/blocked_tiles.hpp"
#include "runtime/kernels/blocked/tile_sums_impl.hpp"

// Tiles of depthwise convolutions and poolings, over a vector type V, see blocked_tiles_impl.hpp.
namespace poprt::kernels::tile {

// As in tile_kernels_impl.hpp.
#define POPRT_INLINE __attribute__((always_inline))

/// Calls tile(std::integral_constant<int, pixels of the tile>, offset in x, offset in y) for all
/// tiles of an area. `x_pixel` and `y_pixel` are those of the area, as constants where possible.
template <class V, class F>
[[gnu::always_inline]] inline void EachTileOfArea(const WindowArea& area, std::int64_t x_pixel,
                                                  std::int64_t y_pixel, F tile) {
  for (std::int64_t line = 0; line < area.lines; ++line) {
    EachTile<V>(area.pixels, [&](auto pixels, std::int64_t pixel) POPRT_INLINE {
      tile(pixels, line * area.x_line + pixel * x_pixel, line * area.y_line + pixel * y_pixel);
    });
  }
}

template <class V, int kPixels, class W>
[[gnu::always_inline]] inline void DepthwiseTile(const DepthwiseArea& area, std::int64_t x_pixel,
                                                 std::int64_t y_pixel, std::int64_t x_offset,
                                                 std::int64_t y_offset) {
  const WindowArea& window = area.window;
  TileSums<V, kPixels, 1> sums;
  sums.Start(area.bias, 0);
  const float* row = window.x + x_offset;
  const W* row_weights = static_cast<const W*>(area.weights);
  for (std::int64_t i = 0; i < window.rows; ++i) {
    const float* x = row;
    const W* weights = row_weights;
    for (std::int64_t k = 0; k < window.columns; ++k) {
      Unroll<kVectors>([&](auto v) POPRT_INLINE {
        constexpr int kV = decltype(v)::value;
        const auto factor = V::Load(weights + kV * kLanes);
        Unroll<kPixels>([&](auto r) POPRT_INLINE {
          constexpr int kR = decltype(r)::value;
          V::AccumulateFrom(sums.chain[0][kR][kV], factor, x + kR * x_pixel + kV * kLanes);
        });
      });
      x += window.x_column;
      weights += kBlock;
    }
    row += window.x_row;
    row_weights += area.weights_row;
  }
  FinishTile(sums, area.epilogue, y_offset, y_pixel, window.y);
}

template <class V, class W>
[[gnu::always_inline]] inline void DepthwiseBySteps(const DepthwiseArea& area, std::int64_t x_pixel,
                                                    std::int64_t y_pixel) {
  EachTileOfArea<V>(area.window, x_pixel, y_pixel,
                    [&](auto pixels, std::int64_t x_offset, std::int64_t y_offset) POPRT_INLINE {
                      DepthwiseTile<V, decltype(pixels)::value, W>(area, x_pixel, y_pixel, x_offset,
                                                                   y_offset);
                    });
}

template <class V, class W>
void Depthwise(const DepthwiseArea& area) {
  const WindowArea& window = area.window;
  if constexpr (V::kUnrolls) {
    // Constant steps are part of the addresses.
    if (window.y_pixel == kBlock && window.x_pixel == kBlock) {
      return DepthwiseBySteps<V, W>(area, kBlock, kBlock);
    }
    if (window.y_pixel == kBlock && window.x_pixel == 2 * kBlock) {
      return DepthwiseBySteps<V, W>(area, 2 * kBlock, kBlock);
    }
  }
  DepthwiseBySteps<V, W>(area, window.x_pixel, window.y_pixel);
}

/// Folds the covered pixels into `results`, which hold the initial values, by take(result, x).
template <class V, int kPixels, class Take>
[[gnu::always_inline]] inline void FoldWindow(const WindowArea& area, std::int64_t x_offset,
                                              typename V::Register (&results)[kPixels][kVectors],
                                              Take take) {
  const float* row = area.x + x_offset;
  for (std::int64_t i = 0; i < area.rows; ++i) {
    const float* x = row;
    for (std::int64_t k = 0; k < area.columns; ++k) {
      EachRegister<kPixels>([&](auto r, auto v) POPRT_INLINE {
        constexpr int kR = decltype(r)::value;
        constexpr int kV = decltype(v)::value;
        results[kR][kV] = take(results[kR][kV], V::Load(x + kR * area.x_pixel + kV * kLanes));
      });
      x += area.x_column;
    }
    row += area.x_row;
  }
}

template <class V, class Take, class Finish>
[[gnu::always_inline]] inline void Pool(const WindowArea& area, float initial, Take take,
                                        Finish finish) {
  EachTileOfArea<V>(area, area.x_pixel, area.y_pixel,
                    [&](auto pixels, std::int64_t x_offset, std::int64_t y_offset) POPRT_INLINE {
                      constexpr int kPixels = decltype(pixels)::value;
                      typename V::Register results[kPixels][kVectors];
                      EachRegister<kPixels>([&](auto r, auto v) POPRT_INLINE {
                        results[decltype(r)::value][decltype(v)::value] = V::Set(initial);
                      });
                      FoldWindow<V, kPixels>(area, x_offset, results, take);
                      EachRegister<kPixels>([&](auto r, auto v) POPRT_INLINE {
                        constexpr int kR = decltype(r)::value;
                        constexpr int kV = decltype(v)::value;
                        V::Store(finish(results[kR][kV]),
                                 area.y + y_offset + kR * area.y_pixel + kV * kLanes);
                      });
                    });
}

template <class V>
void Maximum(const WindowArea& area) {
  using Register = typename V::Register;
  Pool<V>(
      area, -__builtin_inff(),
      [](Register a, Register b) POPRT_INLINE { return V::MaxOrNan(a, b); },
      [](Register a) POPRT_INLINE { return a; });
}

template <class V>
void Average(const WindowArea& area, float factor) {
  using Register = typename V::Register;
  const Register factors = V::Set(factor);
  Pool<V>(
      area, 0.0F, [](Register a, Register b) POPRT_INLINE { return V::Add(a, b); },
      [&](Register a) POPRT_INLINE { return V::Mul(a, factors); });
}

}  // namespace poprt::kernels::tile

#undef POPRT_INLINE
