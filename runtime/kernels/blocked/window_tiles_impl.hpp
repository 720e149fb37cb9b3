#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/tile_sums_impl.hpp"

// Tiles of depthwise convolutions and poolings, over a vector type V, see
// conv_micro_kernels_impl.hpp.
namespace poprt::kernels::tile {

/// Calls tile(std::integral_constant<int, pixels of the tile>, offset in x, offset in y) for all
/// tiles of an area. `x_pixel` and `y_pixel` are those of the area, as constants where possible.
template <class V, class F>
[[gnu::always_inline]] inline void EachTileOfArea(const WindowArea& area, std::int64_t x_pixel,
                                                  std::int64_t y_pixel, F tile) {
  for (std::int64_t line = 0; line < area.lines; ++line) {
    EachTile<V>(area.pixels, [&](auto pixels, std::int64_t pixel) POPRT_INLINED {
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
      Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
        constexpr int kV = decltype(v)::value;
        const auto factor = V::Load(weights + kV * V::kLanes);
        Unroll<kPixels>([&](auto r) POPRT_INLINED {
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
                    [&](auto pixels, std::int64_t x_offset, std::int64_t y_offset) POPRT_INLINED {
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

// ---- Lines of small filters ------------------------------------------------------------------

/// Pixels of the largest tile of a line. Each has one register of sums: so many that the
/// multiply-adds of the others fill the time until a sum can be added to again, and that the taps
/// of a row have registers too.
template <class V, int kTaps>
inline constexpr int kLinePixels = V::kLanes == kBlock || kTaps == 3 ? 12 : 8;

/// Adds the products of row i of the taps. Every input is loaded once, and meets those that cover
/// it.
template <class V, int kTaps, int kStride, int kPixels, class W>
[[gnu::always_inline]] inline void AddLineRow(const DepthwiseLine& line, std::int64_t i,
                                              std::int64_t column, std::int64_t lane,
                                              typename V::Register (&sums)[kPixels]) {
  constexpr int kInputs = (kPixels - 1) * kStride + kTaps;
  constexpr int kMostPadding = kTaps / 2;
  if (line.rows[i] == nullptr) return;
  const float* const row = line.rows[i] + column * kBlock + lane;
  const W* const weights = static_cast<const W*>(line.weights) + i * kTaps * kBlock + lane;
  typename V::Register taps[kTaps];
  Unroll<kTaps>([&](auto k) POPRT_INLINED {
    taps[decltype(k)::value] = V::Load(weights + decltype(k)::value * kBlock);
  });
  // The first and last inputs, which may be padding.
  const float* first[kMostPadding];
  const float* last[kMostPadding];
  Unroll<kMostPadding>([&](auto p) POPRT_INLINED {
    constexpr int kP = decltype(p)::value;
    constexpr int kLast = kInputs - kMostPadding + kP;
    first[kP] = column + kP < 0 ? kZeros : row + kP * kBlock;
    last[kP] = column + kLast >= line.columns ? kZeros : row + kLast * kBlock;
  });
  Unroll<kInputs>([&](auto j) POPRT_INLINED {
    constexpr int kJ = decltype(j)::value;
    const float* from = row + kJ * kBlock;
    if constexpr (kJ < kMostPadding) from = first[kJ];
    if constexpr (kJ >= kInputs - kMostPadding) from = last[kJ - kInputs + kMostPadding];
    const auto input = V::Load(from);
    Unroll<kTaps>([&](auto k) POPRT_INLINED {
      constexpr int kAt = kJ - decltype(k)::value;
      if constexpr (kAt >= 0 && kAt % kStride == 0 && kAt / kStride < kPixels) {
        V::Accumulate(sums[kAt / kStride], taps[decltype(k)::value], input);
      }
    });
  });
}

/// A register of lanes from `lane` on of kPixels pixels, without the activation. Of kRows rows, or,
/// if that is 0, of as many as the line has.
template <class V, int kRows, int kTaps, int kStride, int kPixels, class W>
void LineTile(const DepthwiseLine& line, std::int64_t pixel, std::int64_t lane) {
  typename V::Register sums[kPixels];
  Unroll<kPixels>([&](auto r)
                      POPRT_INLINED { sums[decltype(r)::value] = V::Load(line.bias + lane); });
  const std::int64_t column = pixel * kStride - line.left_padding;
  if constexpr (kRows > 0) {
    Unroll<kRows>([&](auto i) POPRT_INLINED {
      AddLineRow<V, kTaps, kStride, kPixels, W>(line, decltype(i)::value, column, lane, sums);
    });
  } else {
    for (std::int64_t i = 0; i < line.row_count; ++i) {
      AddLineRow<V, kTaps, kStride, kPixels, W>(line, i, column, lane, sums);
    }
  }

  const std::int64_t offset = pixel * kBlock + lane;
  float* const y = line.y + offset;
  const TileEpilogue& e = line.epilogue;
  const float* const residual = e.residual == nullptr ? nullptr : e.residual + offset;
  const auto low = V::Set(e.low);
  const auto high = V::Set(e.high);
  Unroll<kPixels>([&](auto r) POPRT_INLINED {
    constexpr int kAt = decltype(r)::value * kBlock;
    V::Store(Clamped<V>(sums[decltype(r)::value], residual, kAt, low, high), y + kAt);
  });
}

/// Calls LineTile for that many pixels, of which there are at most kMost.
template <class V, int kRows, int kTaps, int kStride, int kMost, class W>
[[gnu::always_inline]] inline void LineTileOf(const DepthwiseLine& line, std::int64_t pixels,
                                              std::int64_t pixel, std::int64_t lane) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) {
      return LineTileOf<V, kRows, kTaps, kStride, kMost - 1, W>(line, pixels, pixel, lane);
    }
  }
  LineTile<V, kRows, kTaps, kStride, kMost, W>(line, pixel, lane);
}

template <class V, int kRows, int kTaps, int kStride, class W>
void LineOf(const DepthwiseLine& line) {
  constexpr int kMost = V::kUnrolls ? kLinePixels<V, kTaps> : 1;
  const std::int64_t tiles = (line.pixels + kMost - 1) / kMost;
  std::int64_t pixel = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t pixels = (line.pixels - pixel) / (tiles - t);
    for (std::int64_t lane = 0; lane < kBlock; lane += V::kLanes) {
      LineTileOf<V, kRows, kTaps, kStride, kMost, W>(line, pixels, pixel, lane);
    }
    pixel += pixels;
  }
}

template <class V, class W>
void DepthwiseLineOf(const DepthwiseLine& line) {
  if (line.taps == 3 && line.row_count == 3) {
    line.stride == 1 ? LineOf<V, 3, 3, 1, W>(line) : LineOf<V, 3, 3, 2, W>(line);
  } else if (line.taps == 3) {
    line.stride == 1 ? LineOf<V, 0, 3, 1, W>(line) : LineOf<V, 0, 3, 2, W>(line);
  } else if (line.taps == 5) {
    line.stride == 1 ? LineOf<V, 0, 5, 1, W>(line) : LineOf<V, 0, 5, 2, W>(line);
  } else {
    LineOf<V, 0, 7, 1, W>(line);
  }
  if (line.epilogue.activation == nullptr) return;
  ActivateInPlace<V>(*line.epilogue.activation,
                     {.first = line.y, .count = line.pixels * kVectors<V>, .step = V::kLanes});
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
      EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINED {
        constexpr int kR = decltype(r)::value;
        constexpr int kV = decltype(v)::value;
        results[kR][kV] = take(results[kR][kV], V::Load(x + kR * area.x_pixel + kV * V::kLanes));
      });
      x += area.x_column;
    }
    row += area.x_row;
  }
}

/// The same for one pixel, whose results would wait for each other: in several chains, which start
/// with the initial values too.
template <class V, class Take>
[[gnu::always_inline]] inline void FoldPixel(const WindowArea& area, std::int64_t x_offset,
                                             typename V::Register (&results)[1][kVectors<V>],
                                             Take take) {
  constexpr int kPixelChains = 4;
  typename V::Register chains[kPixelChains][kVectors<V>];
  EachRegister<kPixelChains, kVectors<V>>([&](auto c, auto v) POPRT_INLINED {
    chains[decltype(c)::value][decltype(v)::value] = results[0][decltype(v)::value];
  });
  const bool is_flat = area.x_row == area.columns * area.x_column;
  const std::int64_t rows = is_flat ? 1 : area.rows;
  const std::int64_t columns = is_flat ? area.rows * area.columns : area.columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* x = area.x + x_offset + i * area.x_row;
    std::int64_t k = 0;
    for (; k + kPixelChains <= columns; k += kPixelChains, x += kPixelChains * area.x_column) {
      EachRegister<kPixelChains, kVectors<V>>([&](auto c, auto v) POPRT_INLINED {
        constexpr int kC = decltype(c)::value;
        constexpr int kV = decltype(v)::value;
        chains[kC][kV] = take(chains[kC][kV], V::Load(x + kC * area.x_column + kV * V::kLanes));
      });
    }
    for (; k < columns; ++k, x += area.x_column) {
      Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
        constexpr int kV = decltype(v)::value;
        chains[0][kV] = take(chains[0][kV], V::Load(x + kV * V::kLanes));
      });
    }
  }
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    results[0][kV] = take(take(chains[0][kV], chains[1][kV]), take(chains[2][kV], chains[3][kV]));
  });
}

/// FoldWindow where the windows of neighbouring pixels overlap in all columns but one: every column
/// is folded once. Sums have another order than those of FoldWindow.
template <class V, int kPixels, int kColumns, class Take>
[[gnu::always_inline]] inline void FoldColumns(
    const WindowArea& area, std::int64_t x_offset,
    typename V::Register (&results)[kPixels][kVectors<V>], Take take) {
  const std::int64_t column_step = area.x_column;
  Unroll<kPixels - 1 + kColumns>([&](auto c) POPRT_INLINED {
    constexpr int kC = decltype(c)::value;
    const float* x = area.x + x_offset + kC * column_step;
    typename V::Register column[kVectors<V>];
    Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
      column[decltype(v)::value] = V::Load(x + decltype(v)::value * V::kLanes);
    });
    for (std::int64_t i = 1; i < area.rows; ++i) {
      x += area.x_row;
      Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
        constexpr int kV = decltype(v)::value;
        column[kV] = take(column[kV], V::Load(x + kV * V::kLanes));
      });
    }
    EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINED {
      constexpr int kR = decltype(r)::value;
      constexpr int kV = decltype(v)::value;
      if constexpr (kR <= kC && kC < kR + kColumns) {
        results[kR][kV] = take(results[kR][kV], column[kV]);
      }
    });
  });
}

/// A tile of pixels: fold(results, offset in x), then finish(result), both for registers.
template <class V, int kPixels, class Fold, class Finish>
[[gnu::always_inline]] inline void PoolTile(const WindowArea& area, float initial,
                                            std::int64_t x_offset, std::int64_t y_offset, Fold fold,
                                            Finish finish) {
  typename V::Register results[kPixels][kVectors<V>];
  EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINED {
    results[decltype(r)::value][decltype(v)::value] = V::Set(initial);
  });
  fold(results, x_offset);
  EachRegister<kPixels, kVectors<V>>([&](auto r, auto v) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    constexpr int kV = decltype(v)::value;
    V::Store(finish(results[kR][kV]), area.y + y_offset + kR * area.y_pixel + kV * V::kLanes);
  });
}

/// For FoldColumns, in tiles of a few pixels.
template <class V, int kColumns, class Take, class Finish>
void PoolByColumns(const WindowArea& area, float initial, Take take, Finish finish) {
  constexpr int kFew = 4;
  const auto tile = [&]<int kPixels>(std::int64_t line, std::int64_t pixel) POPRT_INLINED {
    PoolTile<V, kPixels>(
        area, initial, line * area.x_line + pixel * area.x_pixel,
        line * area.y_line + pixel * area.y_pixel,
        [&](auto& results, std::int64_t x_offset)
            POPRT_INLINED { FoldColumns<V, kPixels, kColumns>(area, x_offset, results, take); },
        finish);
  };
  for (std::int64_t line = 0; line < area.lines; ++line) {
    std::int64_t pixel = 0;
    for (; pixel + kFew <= area.pixels; pixel += kFew) tile.template operator()<kFew>(line, pixel);
    for (; pixel < area.pixels; ++pixel) tile.template operator()<1>(line, pixel);
  }
}

/// For any window.
template <class V, class Take, class Finish>
[[gnu::always_inline]] inline void PoolByWindows(const WindowArea& area, float initial, Take take,
                                                 Finish finish) {
  EachTileOfArea<V>(area, area.x_pixel, area.y_pixel,
                    [&](auto pixels, std::int64_t x_offset, std::int64_t y_offset) POPRT_INLINED {
                      constexpr int kPixels = decltype(pixels)::value;
                      PoolTile<V, kPixels>(
                          area, initial, x_offset, y_offset,
                          [&](auto& results, std::int64_t offset) POPRT_INLINED {
                            if constexpr (kPixels == 1) {
                              FoldPixel<V>(area, offset, results, take);
                            } else {
                              FoldWindow<V, kPixels>(area, offset, results, take);
                            }
                          },
                          finish);
                    });
}

template <class V, class Take, class Finish>
[[gnu::always_inline]] inline void Pool(const WindowArea& area, float initial, Take take,
                                        Finish finish) {
  const bool overlaps = area.pixels > 1 && area.x_pixel == area.x_column;
  if (overlaps && area.columns == 3) return PoolByColumns<V, 3>(area, initial, take, finish);
  if (overlaps && area.columns == 5) return PoolByColumns<V, 5>(area, initial, take, finish);
  PoolByWindows<V>(area, initial, take, finish);
}

template <class V>
bool HoldsNan(const float* x, std::int64_t count) {
  unsigned found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= x[i] != x[i] ? 1U : 0U;
  return found != 0;
}

template <class V>
void Maximum(const WindowArea& area) {
  using Register = typename V::Register;
  Pool<V>(
      area, -__builtin_inff(), [](Register a, Register b) POPRT_INLINED { return V::Max(a, b); },
      [](Register a) POPRT_INLINED { return a; });
}

template <class V>
void MaximumOrNan(const WindowArea& area) {
  using Register = typename V::Register;
  PoolByWindows<V>(
      area, -__builtin_inff(),
      [](Register a, Register b) POPRT_INLINED { return V::MaxOrNan(a, b); },
      [](Register a) POPRT_INLINED { return a; });
}

template <class V>
void Average(const WindowArea& area, float factor) {
  using Register = typename V::Register;
  const Register factors = V::Set(factor);
  Pool<V>(
      area, 0.0F, [](Register a, Register b) POPRT_INLINED { return V::Add(a, b); },
      [&](Register a) POPRT_INLINED { return V::Mul(a, factors); });
}

// ---- Moments ---------------------------------------------------------------------------------

/// Folds the pixels of some lanes by take(sum, x), in several chains.
template <class V, class Take>
[[gnu::always_inline]] inline typename V::Register FoldPixels(const float* x, std::int64_t pixels,
                                                              Take take) {
  constexpr int kChains = 4;
  typename V::Register sums[kChains];
  Unroll<kChains>([&](auto c) POPRT_INLINED { sums[decltype(c)::value] = V::Zero(); });
  std::int64_t p = 0;
  for (; p + kChains <= pixels; p += kChains, x += kChains * kBlock) {
    Unroll<kChains>([&](auto c) POPRT_INLINED {
      constexpr int kC = decltype(c)::value;
      take(sums[kC], V::Load(x + kC * kBlock));
    });
  }
  for (; p < pixels; ++p, x += kBlock) take(sums[0], V::Load(x));
  return V::Add(V::Add(sums[0], sums[1]), V::Add(sums[2], sums[3]));
}

template <class V>
void Moments(const float* x, std::int64_t pixels, float* moments) {
  using Register = typename V::Register;
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
    constexpr int kLane = decltype(v)::value * V::kLanes;
    const Register sum = FoldPixels<V>(
        x + kLane, pixels, [](Register& to, Register a) POPRT_INLINED { to = V::Add(to, a); });
    const Register mean = V::Div(sum, V::Set(static_cast<float>(pixels)));
    V::Store(mean, moments + kLane);
    const Register squares =
        FoldPixels<V>(x + kLane, pixels, [mean](Register& to, Register a) POPRT_INLINED {
          const Register distance = V::Sub(a, mean);
          V::Accumulate(to, distance, distance);
        });
    V::Store(squares, moments + kBlock + kLane);
  });
}

}  // namespace poprt::kernels::tile
