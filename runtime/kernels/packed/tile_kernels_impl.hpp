#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/tile_kernels.hpp"

// TileKernels written once over a vector type V of 8 or 16 floats. Every file that includes this
// gives a V of its own in an unnamed namespace, so that each has its own copy of the code.
//
// V has kLanes, Register (the register type), kPanels and kRows (of how many panels of 16 columns,
// 1 or 2, and of how many rows, 6 to 8, the sums fit the registers), Eight (a V of eight lanes for
// what needs no more; it has Transpose(Register[8]) too) and static functions: Zero, Set, Load
// (float or float16 bits), Store (float or float16 bits), LoadFirst(p, n) and StoreFirst(v, p, n)
// (n < kLanes floats, zeros behind them), KeepFirst(v, n), Even(a, b) (lanes 0, 2, ... of both),
// Add, Sub, Mul, Div, MulAdd(a, b, c) = a * b + c, Accumulate(acc, a, b), where a may come from
// Repeat<n>(p), the number at p in all lanes for n uses, Max(a, b) = a > b ? a : b, Min(a, b) = a <
// b ? a : b, Abs, SelectLess(a, b, x, y) = a < b ? x : y, PowerOfTwo (see there) and, where there
// is an instruction for it, Scale(x, n) = x * 2^n.
namespace poprt::kernels::tile {

inline constexpr int kColumns = 16;
/// Rows of the largest interleaved tile, see row_tiles.hpp.
inline constexpr int kInterleavedRows = 6;

/// Registers of a row of a tile.
template <class V>
inline constexpr int kVectors = kColumns / V::kLanes;

// ---- Products --------------------------------------------------------------------------------

/// Registers of a row of the tiles that are computed at once.
template <class V>
inline constexpr int kRowVectors = V::kPanels* kVectors<V>;

/// Panels of tiles of few rows, see TileKernels.
template <class V>
inline constexpr int kFewRowsPanels = V::kPanels == 1 ? 1 : 4;
template <class V>
inline constexpr bool kFewRowsHaveMorePanels = (kFewRowsPanels<V>) > V::kPanels;

/// A chain of dependent multiply-adds takes four cycles a step while two may start in every cycle,
/// so that tiles of few rows, the rows being kWidth registers, sum over several chains.
template <int kRows, int kWidth>
inline constexpr int kChains = kRows* kWidth <= 2   ? 4
                               : kRows* kWidth <= 6 ? 2
                                                    : 1;

// On lambdas: a captured array stays in memory unless the lambda is gone before the first
// optimisations.
#define POPRT_INLINE __attribute__((always_inline))

/// Calls f with std::integral_constant 0, 1, ... g++ keeps an array in registers only when it sees
/// constant indices before it unrolls loops.
template <class F, int... kIndices>
[[gnu::always_inline]] inline void UnrollEach([[maybe_unused]] F f,
                                              std::integer_sequence<int, kIndices...>) {
  (f(std::integral_constant<int, kIndices>{}), ...);
}
template <int kCount, class F>
[[gnu::always_inline]] inline void Unroll(F f) {
  UnrollEach(f, std::make_integer_sequence<int, kCount>{});
}

/// How registers of panels are loaded, register kV of a row.
template <class V, int kWidth, int kRowWidth, class B>
struct PanelLoads {
  [[gnu::always_inline]] explicit PanelLoads(const Panels<B>& /*panels*/) {}
  template <int kV>
  [[gnu::always_inline]] typename V::Register Load(const B* p) const {
    return V::Load(p);
  }
};
template <class V, int kWidth, int kRowWidth>
struct PanelLoads<V, kWidth, kRowWidth, std::int8_t> {
  [[gnu::always_inline]] explicit PanelLoads(const Panels<std::int8_t>& panels) {
    const auto stride = panels.stride / static_cast<std::int64_t>(sizeof(float));
    Unroll<kRowWidth>([&](auto v) POPRT_INLINE {
      constexpr int kV = decltype(v)::value;
      scales[kV] = V::Load(panels.scales + kV / kWidth * stride + kV % kWidth * V::kLanes);
    });
  }
  template <int kV>
  [[gnu::always_inline]] typename V::Register Load(const std::int8_t* p) const {
    return V::Mul(V::Load(p), scales[kV]);
  }
  typename V::Register scales[kRowWidth];
};

/// sums += A * B for one step of the depth, kWidth registers of each panel.
template <class V, int kWidth, bool kInterleaved, class B, int kRows, int kRowWidth>
[[gnu::always_inline]] inline void ProductStep(const float* a, std::int64_t lda, const B* b,
                                               std::int64_t panel_stride,
                                               const PanelLoads<V, kWidth, kRowWidth, B>& loads,
                                               typename V::Register (&sums)[kRows][kRowWidth]) {
  typename V::Register columns[kRowWidth];
  Unroll<kRowWidth>([&](auto v) POPRT_INLINE {
    constexpr int kV = decltype(v)::value;
    columns[kV] = loads.template Load<kV>(b + kV / kWidth * panel_stride + kV % kWidth * V::kLanes);
  });
  Unroll<kRows>([&](auto r) POPRT_INLINE {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::template Repeat<kRowWidth>(kInterleaved ? a + kR : a + kR * lda);
    Unroll<kRowWidth>([&](auto v) POPRT_INLINE {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums[kR][kV], factor, columns[kV]);
    });
  });
}

/// How a product fetches what is needed next, see Ahead.
enum class Fetching { kNear, kFar };

/// Fetches kLines cache lines of each panel from `first` on.
template <Fetching kFetching, int kPanels, int kLines, class B>
[[gnu::always_inline]] inline void Fetch(const B* first, std::int64_t panel_stride) {
  constexpr int kLevel = kFetching == Fetching::kNear ? 3 : 2;
  constexpr std::int64_t kLine = 64 / sizeof(B);
  Unroll<kPanels>([&](auto panel) POPRT_INLINE {
    Unroll<kLines>([&](auto line) POPRT_INLINE {
      __builtin_prefetch(
          first + decltype(panel)::value * panel_stride + decltype(line)::value * kLine, 0, kLevel);
    });
  });
}

/// kRows rows times kPanels panels, kWidth registers of each.
template <class V, int kRows, int kPanels, int kWidth, bool kInterleaved, Fetching kFetching,
          class B>
void Product(const float* a, std::int64_t lda, const Panels<B>& panels, std::int64_t depth,
             const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  // As many for one panel as for all, and hence the same results.
  constexpr int kSums = kChains<kRows, V::kPanels * kWidth>;
  constexpr int kRowWidth = kPanels * kWidth;
  constexpr int kStepOfA = kInterleaved ? kRows : 1;  // NOLINT: the same for one row
  typename V::Register sums[kSums][kRows][kRowWidth];
  const auto each_sum = [](auto f) POPRT_INLINE {
    Unroll<kRows>([&](auto r)
                      POPRT_INLINE { Unroll<kRowWidth>([&](auto v) POPRT_INLINE { f(r, v); }); });
  };
  Unroll<kSums>([&](auto c) POPRT_INLINE {
    each_sum([&](auto r, auto v) POPRT_INLINE {
      sums[decltype(c)::value][decltype(r)::value][decltype(v)::value] = V::Zero();
    });
  });
  const PanelLoads<V, kWidth, kRowWidth, B> loads(panels);
  const B* b = panels.first;
  const B* fetched = ahead.first;
  const std::int64_t step = ahead.step;
  const std::int64_t panel_stride = panels.stride;
  std::int64_t left = depth;
  for (; left >= 4; left -= 4) {
    Unroll<4>([&](auto s) POPRT_INLINE {
      constexpr int kStep = decltype(s)::value;
      ProductStep<V, kWidth, kInterleaved>(a + kStep * kStepOfA, lda, b + kStep * kColumns,
                                           panel_stride, loads, sums[kStep % kSums]);
    });
    // One row, or many panels, pass as fast as they come; the processor itself fetches them ahead.
    if constexpr (kRows > 1 && kPanels <= V::kPanels) {
      constexpr bool kOneLine = !kInterleaved && kFetching == Fetching::kNear;
      constexpr int kFetched = kInterleaved ? 1 : kPanels;  // NOLINT: the same for one panel
      Fetch<kFetching, kFetched, kOneLine ? 1 : 2>(fetched, panel_stride);
      fetched += step;
    }
    a += 4 * kStepOfA;
    b += 4 * kColumns;
  }
  for (; left > 0; --left) {
    ProductStep<V, kWidth, kInterleaved>(a, lda, b, panel_stride, loads, sums[0]);
    a += kStepOfA;
    b += kColumns;
  }
  each_sum([&](auto r, auto v) POPRT_INLINE {
    constexpr int kR = decltype(r)::value;
    constexpr int kV = decltype(v)::value;
    auto sum = sums[0][kR][kV];
    Unroll<kSums - 1>(
        [&](auto c) POPRT_INLINE { sum = V::Add(sum, sums[decltype(c)::value + 1][kR][kV]); });
    float* const at =
        tiles.first + kV / kWidth * tiles.stride + kR * kColumns + kV % kWidth * V::kLanes;
    V::Store(accumulate ? V::Add(V::Load(at), sum) : sum, at);
  });
}

/// Calls f(std::integral_constant<int, rows>) for 1 to kMost rows.
template <int kMost, class F>
[[gnu::always_inline]] inline void WithRows(std::int64_t rows, F f) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return WithRows<kMost - 1>(rows, f);
  }
  f(std::integral_constant<int, kMost>{});
}

/// Calls f(std::integral_constant<int, count>) for the numbers of panels that V has registers for.
template <class V, class F>
[[gnu::always_inline]] inline void WithPanels(int count, F f) {
  if constexpr (V::kPanels > 1) {
    if (count == 2) return f(std::integral_constant<int, 2>{});
  }
  f(std::integral_constant<int, 1>{});
}

template <class V, int kMostRows, int kWidth, bool kInterleaved, class B>
void ProductOf(int rows, const float* a, std::int64_t lda, const Panels<B>& b, std::int64_t depth,
               const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  if constexpr (kFewRowsHaveMorePanels<V> && !kInterleaved) {
    if (b.count == kFewRowsPanels<V>) {
      return WithRows<kInterleavedRows>(rows, [&](auto constant) POPRT_INLINE {
        Product<V, decltype(constant)::value, kFewRowsPanels<V>, kWidth, kInterleaved,
                Fetching::kNear>(a, lda, b, depth, ahead, tiles, accumulate);
      });
    }
  }
  WithPanels<V>(b.count, [&](auto panels) POPRT_INLINE {
    WithRows<kMostRows>(rows, [&](auto constant) POPRT_INLINE {
      constexpr int kRows = decltype(constant)::value;
      constexpr int kPanels = decltype(panels)::value;
      if constexpr (!kInterleaved && kRows > 1) {
        if (!ahead.is_near) {
          return Product<V, kRows, kPanels, kWidth, kInterleaved, Fetching::kFar>(
              a, lda, b, depth, ahead, tiles, accumulate);
        }
      }
      Product<V, kRows, kPanels, kWidth, kInterleaved, Fetching::kNear>(a, lda, b, depth, ahead,
                                                                        tiles, accumulate);
    });
  });
}

template <class V, class B>
void RowMajor(int rows, const float* a, std::int64_t lda, const Panels<B>& b, std::int64_t depth,
              const Ahead<B>& ahead, const Tiles& tiles, bool accumulate) {
  ProductOf<V, V::kRows, kVectors<V>, false>(rows, a, lda, b, depth, ahead, tiles, accumulate);
}

template <class V, int kWidth>
void Interleaved(int rows, const float* a, const Panels<float>& b, std::int64_t depth,
                 const Ahead<float>& ahead, const Tiles& tiles, bool accumulate) {
  ProductOf<V, kInterleavedRows, kWidth, true>(rows, a, 0, b, depth, ahead, tiles, accumulate);
}

// ---- Epilogue --------------------------------------------------------------------------------

/// The first `count` of the elements of a register, zero for the others, touching nothing else.
template <class V>
[[gnu::always_inline]] inline typename V::Register LoadFirst(const float* source,
                                                             std::int64_t count) {
  return count >= V::kLanes ? V::Load(source) : V::LoadFirst(source, count);
}
template <class V>
typename V::Register LoadFirst(const std::uint16_t* source, std::int64_t count) {
  if (count >= V::kLanes) return V::Load(source);
  std::uint16_t lanes[V::kLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = source[i];
  return V::Load(lanes);
}

/// Stores the first `count` of the elements of a register, touching nothing else.
template <class V>
[[gnu::always_inline]] inline void StoreFirst(typename V::Register value, float* target,
                                              std::int64_t count) {
  if (count >= V::kLanes) return V::Store(value, target);
  V::StoreFirst(value, target, count);
}
template <class V>
void StoreFirst(typename V::Register value, std::uint16_t* target, std::int64_t count) {
  if (count >= V::kLanes) return V::Store(value, target);
  std::uint16_t lanes[V::kLanes];
  V::Store(value, lanes);
  for (std::int64_t i = 0; i < count; ++i) target[i] = lanes[i];
}

/// Rows of a whole panel's width: what all of them need stays in registers.
template <class V, Activation kActivation, bool kHasResidual, class T>
void FinishWide(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
                std::int64_t row, std::int64_t col) {
  const auto scale = V::Set(e.scale);
  typename V::Register bias[kVectors<V>];
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINE {
    constexpr int kV = decltype(v)::value;
    bias[kV] = e.column_bias == nullptr ? V::Zero() : V::Load(e.column_bias + col + kV * V::kLanes);
  });
  const std::int64_t start = row * e.row_stride + col;
  T* out = static_cast<T*>(e.out) + start;
  const T* residual = kHasResidual ? static_cast<const T*>(e.residual) + start : nullptr;
  const float* const row_bias = e.row_bias;
  const std::int64_t stride = e.row_stride;
  for (std::int64_t r = 0; r < rows; ++r, tile += tile_stride, out += stride) {
    const auto bias_of_row = row_bias == nullptr ? V::Zero() : V::Set(row_bias[row + r]);
    Unroll<kVectors<V>>([&](auto v) POPRT_INLINE {
      constexpr int kV = decltype(v)::value;
      const auto sums = V::Mul(V::Load(tile + kV * V::kLanes), scale);
      auto value = V::Add(V::Add(sums, bias_of_row), bias[kV]);
      if constexpr (kHasResidual) value = V::Add(value, V::Load(residual + kV * V::kLanes));
      V::Store(Activate<V, kActivation>(value, e), out + kV * V::kLanes);
    });
    if constexpr (kHasResidual) residual += stride;
  }
}

/// Rows of any width.
template <class V, Activation kActivation, class T>
void FinishNarrow(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
                  std::int64_t cols, std::int64_t row, std::int64_t col) {
  const auto scale = V::Set(e.scale);
  const std::int64_t start = row * e.row_stride + col;
  const std::int64_t stride = e.row_stride;
  const float* const column_bias = e.column_bias;
  T* const out = static_cast<T*>(e.out) + start;
  const T* const residual =
      e.residual == nullptr ? nullptr : static_cast<const T*>(e.residual) + start;
  const auto row_bias_of = [&](std::int64_t r) POPRT_INLINE {
    return e.row_bias == nullptr ? V::Zero() : V::Set(e.row_bias[row + r]);
  };
  const auto bias_of = [&](std::int64_t c, std::int64_t count) POPRT_INLINE {
    return column_bias == nullptr ? V::Zero() : LoadFirst<V>(column_bias + col + c, count);
  };
  const auto finish = [&](std::int64_t r, std::int64_t c, std::int64_t count, auto row_bias,
                          auto bias) POPRT_INLINE {
    const auto sums = V::Mul(LoadFirst<V>(tile + r * tile_stride + c, count), scale);
    auto value = V::Add(V::Add(sums, row_bias), bias);
    if (residual != nullptr) value = V::Add(value, LoadFirst<V>(residual + r * stride + c, count));
    StoreFirst<V>(Activate<V, kActivation>(value, e), out + r * stride + c, count);
  };
  if (cols < V::kLanes) {
    const auto bias = bias_of(0, cols);
    for (std::int64_t r = 0; r < rows; ++r) finish(r, 0, cols, row_bias_of(r), bias);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row_bias = row_bias_of(r);
    std::int64_t c = 0;
    for (; c + V::kLanes <= cols; c += V::kLanes) {
      finish(r, c, V::kLanes, row_bias, bias_of(c, V::kLanes));
    }
    if (c < cols) finish(r, c, cols - c, row_bias, bias_of(c, cols - c));
  }
}

template <class V, Activation kActivation, class T>
void FinishAs(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
              std::int64_t cols, std::int64_t row, std::int64_t col) {
  if (cols != kColumns) {
    FinishNarrow<V, kActivation, T>(e, tile, tile_stride, rows, cols, row, col);
  } else if (e.residual == nullptr) {
    FinishWide<V, kActivation, false, T>(e, tile, tile_stride, rows, row, col);
  } else {
    FinishWide<V, kActivation, true, T>(e, tile, tile_stride, rows, row, col);
  }
}

template <class V, class T>
void FinishWith(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
                std::int64_t cols, std::int64_t row, std::int64_t col) {
  switch (e.activation) {
    case Activation::kNone:
      return FinishAs<V, Activation::kNone, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kRelu:
      return FinishAs<V, Activation::kRelu, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kClip:
      return FinishAs<V, Activation::kClip, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kGeluErf:
      return FinishAs<V, Activation::kGeluErf, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kGeluTanh:
      return FinishAs<V, Activation::kGeluTanh, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kSigmoid:
      return FinishAs<V, Activation::kSigmoid, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kTanh:
      return FinishAs<V, Activation::kTanh, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kSilu:
      return FinishAs<V, Activation::kSilu, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kHardSwish:
      return FinishAs<V, Activation::kHardSwish, T>(e, tile, tile_stride, rows, cols, row, col);
    case Activation::kLeakyRelu:
      return FinishAs<V, Activation::kLeakyRelu, T>(e, tile, tile_stride, rows, cols, row, col);
  }
}

template <class V>
void Finish(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
            std::int64_t cols, std::int64_t row, std::int64_t col) {
  if (e.half) return FinishWith<V, std::uint16_t>(e, tile, tile_stride, rows, cols, row, col);
  FinishWith<V, float>(e, tile, tile_stride, rows, cols, row, col);
}

// ---- Panels ----------------------------------------------------------------------------------

/// Writes `count` elements of the source and zeros behind them, 16 floats in all.
template <class V, int kStep, class T>
void CopyRun(const T* source, std::int64_t count, float* target) {
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINE {
    constexpr int kFirst = decltype(v)::value * V::kLanes;
    const T* const from = source + kStep * kFirst;
    auto lanes = V::Load(from);
    if constexpr (kStep == 2) lanes = V::Even(lanes, V::Load(from + V::kLanes));
    V::Store(V::KeepFirst(lanes, count - kFirst), target + kFirst);
  });
}

/// As CopyRun for any step, reading no more than the elements asked for.
template <class V, class T>
void CopyRunCarefully(const T* source, std::int64_t count, std::int64_t step, float* target) {
  T lanes[kColumns] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = source[i * step];
  for (int c = 0; c < kColumns; c += V::kLanes) V::Store(V::Load(lanes + c), target + c);
}

template <class V, class T>
void Gather(const T* source, std::int64_t row_stride, std::int64_t rows,
            const PanelSegment* segments, std::int64_t segment_count, std::int64_t step,
            const T* end, float* panel) {
  const bool starts_with_zeros = segment_count == 0 || segments[0].at > 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = panel + r * kColumns;
    if (starts_with_zeros) {
      for (int c = 0; c < kColumns; c += V::kLanes) V::Store(V::Zero(), row + c);
    }
    // Runs are written whole and from left to right: what is too much is overwritten by the next
    // run or the next row.
    for (std::int64_t s = 0; s < segment_count; ++s) {
      const PanelSegment& segment = segments[s];
      const T* from = source + r * row_stride + segment.offset;
      float* to = row + segment.at;
      if (step <= 2 && end - from >= step * kColumns) {
        if (step == 1) {
          CopyRun<V, 1>(from, segment.count, to);
        } else {
          CopyRun<V, 2>(from, segment.count, to);
        }
      } else {
        CopyRunCarefully<V>(from, segment.count, step, to);
      }
    }
  }
}

template <class V, class T>
void GatherTransposed(const T* source, std::int64_t column_stride, std::int64_t cols,
                      std::int64_t depth, float* panel) {
  for (std::int64_t c = 0; c < kColumns; c += V::kLanes) {
    for (std::int64_t k = 0; k < depth; k += V::kLanes) {
      const std::int64_t count = depth - k < V::kLanes ? depth - k : V::kLanes;
      typename V::Register lines[V::kLanes];
      for (int i = 0; i < V::kLanes; ++i) {
        lines[i] =
            c + i < cols ? LoadFirst<V>(source + (c + i) * column_stride + k, count) : V::Zero();
      }
      V::Transpose(lines);
      for (std::int64_t i = 0; i < count; ++i) V::Store(lines[i], panel + (k + i) * kColumns + c);
    }
  }
}

template <class V>
void Widen(const std::uint16_t* source, std::int64_t count, float* target) {
  for (std::int64_t i = 0; i < count; i += V::kLanes) {
    StoreFirst<V>(LoadFirst<V>(source + i, count - i), target + i, count - i);
  }
}

// ---- Depthwise -------------------------------------------------------------------------------

template <class V, int kWidth>
[[gnu::always_inline]] inline void DepthwiseStrip(const DepthwiseSpan& call, std::int64_t first) {
  typename V::Register sums[kWidth];
  Unroll<kWidth>([&](auto v) POPRT_INLINE { sums[decltype(v)::value] = V::Set(call.bias); });
  for (std::int64_t t = 0; t < call.taps; ++t) {
    const auto weight = V::Set(call.weights[t]);
    const float* source = call.planes + first + call.tap_offset[t];
    Unroll<kWidth>([&](auto v) POPRT_INLINE {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums[kV], weight, V::Load(source + kV * V::kLanes));
    });
  }
  Unroll<kWidth>([&](auto v) POPRT_INLINE {
    constexpr int kV = decltype(v)::value;
    V::Store(sums[kV], call.out + first + kV * V::kLanes);
  });
}

template <class V>
void Depthwise(const DepthwiseSpan& call) {
  std::int64_t at = 0;
  constexpr int kStrip = 32;
  for (; call.count - at > kStrip / 2; at += kStrip)
    DepthwiseStrip<V, kStrip / V::kLanes>(call, at);
  for (; at < call.count; at += V::kLanes) DepthwiseStrip<V, 1>(call, at);
}

template <class V>
inline constexpr TileKernels kKernels = {
    .panels = V::kPanels,
    .panels_of_few_rows = kFewRowsPanels<V>,
    .rows = V::kRows,
    .row_major_f32 = RowMajor<V, float>,
    .row_major_f16 = RowMajor<V, std::uint16_t>,
    .row_major_s8 = RowMajor<V, std::int8_t>,
    .interleaved = Interleaved<V, kVectors<V>>,
    .interleaved_narrow = Interleaved<V, 1>,
    .finish = Finish<V>,
    .gather_f32 = Gather<V, float>,
    .gather_f16 = Gather<V, std::uint16_t>,
    .gather_transposed_f32 = GatherTransposed<typename V::Eight, float>,
    .gather_transposed_f16 = GatherTransposed<typename V::Eight, std::uint16_t>,
    .widen = Widen<V>,
    .depthwise = Depthwise<V>};

}  // namespace poprt::kernels::tile

#undef POPRT_INLINE
