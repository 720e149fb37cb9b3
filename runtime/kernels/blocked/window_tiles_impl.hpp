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
  TileSums<V, kPixels, 1, kVectors<V>, 1> sums;
  sums.Start(area.bias, 0);
  const float* row = window.x + x_offset;
  const W* row_weights = static_cast<const W*>(area.weights);
  for (std::int64_t i = 0; i < window.rows; ++i) {
    const float* x = row;
    const W* weights = row_weights;
    for (std::int64_t k = 0; k < window.columns; ++k) {
      Unroll<kVectors<V>>([&](auto v) POPRT_INLINE {
        constexpr int kV = decltype(v)::value;
        const auto factor = V::Load(weights + kV * V::kLanes);
        Unroll<kPixels>([&](auto r) POPRT_INLINE {
          constexpr int kR = decltype(r)::value;
          V::AccumulateFrom(sums.chain[0][kR][kV], factor, x + kR * x_pixel + kV * V::kLanes);
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

// ---- Lines of 3x3 filters --------------------------------------------------------------------

/// Pixels of the largest tile of a line. Each has one register of sums: so many that the
/// multiply-adds of the others fill the time until a sum can be added to again.
inline constexpr int kLinePixels = 12;

/// A register of lanes from `lane` on of kPixels pixels, without the activation. Every input is
/// loaded once and meets the up to three columns of taps that cover it.
template <class V, int kPixels, class W>
void LineTile(const DepthwiseLine& line, std::int64_t pixel, std::int64_t lane) {
  constexpr int kInputs = kPixels + 2;
  typename V::Register sums[kPixels];
  Unroll<kPixels>([&](auto r)
                      POPRT_INLINE { sums[decltype(r)::value] = V::Load(line.bias + lane); });
  const W* const weights = static_cast<const W*>(line.weights) + lane;
  const std::int64_t column = pixel - line.left_padding;
  const std::int64_t at = column * kBlock + lane;
  const bool ends_in_padding = column + kInputs > line.columns;
  Unroll<3>([&](auto i) POPRT_INLINE {
    constexpr int kI = decltype(i)::value;
    const float* const row = line.rows[kI];
    if (row == nullptr) return;
    typename V::Register taps[3];
    Unroll<3>([&](auto k) POPRT_INLINE {
      constexpr int kK = decltype(k)::value;
      taps[kK] = V::Load(weights + (kI * 3 + kK) * kBlock);
    });
    const float* const first = column < 0 ? kZeros : row + at;
    const float* const last = ends_in_padding ? kZeros : row + (at + (kInputs - 1) * kBlock);
    Unroll<kInputs>([&](auto j) POPRT_INLINE {
      constexpr int kJ = decltype(j)::value;
      const auto input = V::Load(kJ == 0             ? first
                                 : kJ == kInputs - 1 ? last
                                                     : row + (at + kJ * kBlock));
      Unroll<3>([&](auto k) POPRT_INLINE {
        constexpr int kR = kJ - decltype(k)::value;
        if constexpr (kR >= 0 && kR < kPixels) {
          V::Accumulate(sums[kR], taps[decltype(k)::value], input);
        }
      });
    });
  });

  const std::int64_t offset = pixel * kBlock + lane;
  float* const y = line.y + offset;
  const TileEpilogue& e = line.epilogue;
  const float* const residual = e.residual == nullptr ? nullptr : e.residual + offset;
  const auto low = V::Set(e.low);
  const auto high = V::Set(e.high);
  Unroll<kPixels>([&](auto r) POPRT_INLINE {
    constexpr int kAt = decltype(r)::value * kBlock;
    auto value = sums[decltype(r)::value];
    if (residual != nullptr) value = V::Add(value, V::Load(residual + kAt));
    // The value comes second, which keeps a NaN.
    V::Store(V::Min(high, V::Max(low, value)), y + kAt);
  });
}

/// Calls LineTile for that many pixels, of which there are at most kMost.
template <class V, int kMost, class W>
[[gnu::always_inline]] inline void LineTileOf(const DepthwiseLine& line, std::int64_t pixels,
                                              std::int64_t pixel, std::int64_t lane) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) {
      return LineTileOf<V, kMost - 1, W>(line, pixels, pixel, lane);
    }
  }
  LineTile<V, kMost, W>(line, pixel, lane);
}

template <class V, class W>
void DepthwiseLineOf(const DepthwiseLine& line) {
  constexpr int kMost = V::kUnrolls ? kLinePixels : 1;
  const std::int64_t tiles = (line.pixels + kMost - 1) / kMost;
  std::int64_t pixel = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t pixels = (line.pixels - pixel) / (tiles - t);
    for (std::int64_t lane = 0; lane < kBlock; lane += V::kLanes) {
      LineTileOf<V, kMost, W>(line, pixels, pixel, lane);
    }
    pixel += pixels;
  }
  if (line.epilogue.activation == nullptr) return;
  ActivateInPlace<V>(*line.epilogue.activation,
                     {.first = line.y, .pixels = line.pixels, .step = kBlock, .count = kBlock});
}

// ---- Pooling ---------------------------------------------------------------------------------

/// Folds the covered pixels into `results`, which hold the initial values, by take(result, x).
template <class V, int kPixels, class Take>
[[gnu::always_inline]] inline void FoldWindow(const WindowArea& area, std::int64_t x_offset,
                                              typename V::Register (&results)[kPixels][kVectors<V>],
                                              Take take) {
  const float* row = area.x + x_offset;
  for (std::int64_t i = 0; i < area.rows; ++i) {
    const float* x = row;
    for (std::int64_t k = 0; k < area.columns; ++k) {
      EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINE {
        constexpr int kR = decltype(r)::value;
        constexpr int kV = decltype(v)::value;
        results[kR][kV] = take(results[kR][kV], V::Load(x + kR * area.x_pixel + kV * V::kLanes));
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
                      typename V::Register results[kPixels][kVectors<V>];
                      EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINE {
                        results[decltype(r)::value][decltype(v)::value] = V::Set(initial);
                      });
                      FoldWindow<V, kPixels>(area, x_offset, results, take);
                      EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINE {
                        constexpr int kR = decltype(r)::value;
                        constexpr int kV = decltype(v)::value;
                        V::Store(finish(results[kR][kV]),
                                 area.y + y_offset + kR * area.y_pixel + kV * V::kLanes);
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
