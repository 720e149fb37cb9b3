#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_group.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Register tiles of pixels by 16 channels, over a vector type V, see conv_micro_kernels_impl.hpp.
namespace poprt::kernels::tile {

/// What a pixel of padding holds.
alignas(64) inline constexpr float kZeros[kBlock] = {};

/// Calls f(r, v) for every register of a tile of kPixels pixels by kWidth vectors.
template <int kPixels, int kWidth, class F>
[[gnu::always_inline]] inline void EachRegister(F f) {
  Unroll<kPixels>([&](auto r)
                      POPRT_INLINED { Unroll<kWidth>([&](auto v) POPRT_INLINED { f(r, v); }); });
}

/// Calls tile(std::integral_constant<int, pixels of the tile>, first pixel) for all tiles of
/// `pixels` pixels: as many as there are registers for, and none of so few that it is slow, or that
/// it sums in several chains while other processors need none, where that can be avoided.
template <class V, class F>
[[gnu::always_inline]] inline void EachTile(std::int64_t pixels, F tile) {
  if constexpr (V::kUnrolls) {
    const std::int64_t most = pixels == kTilePixels + 1 ? kTilePixels : V::kRows;
    for (std::int64_t at = 0; at < pixels;) {
      const std::int64_t left = pixels - at;
      const std::int64_t count = left <= most           ? left
                                 : left < 2 * most      ? (left + 1) / 2
                                 : left == 2 * most + 1 ? most - 1
                                                        : most;
      WithRows<V::kRows>(count, [&](auto constant) POPRT_INLINED { tile(constant, at); });
      at += count;
    }
  } else {
    for (std::int64_t at = 0; at < pixels; ++at) tile(std::integral_constant<int, 1>{}, at);
  }
}

/// The sums of a tile of kPanels blocks of channels, kWidth vectors of each, in one or more chains,
/// see kChains: as many for one block as for all, and hence the same results.
template <class V, int kPixels, int kPanels = 1, int kWidth = kVectors<V>,
          int kCount = kChains<kPixels, kRowVectors<V>>>
struct TileSums {
  using Vector = V;
  static constexpr int kChainCount = kCount;
  static constexpr int kBlocks = kPanels;
  static constexpr bool kEndInHalf = kWidth * V::kLanes < kBlock;
  static constexpr int kRowWidth = kPanels * kWidth;
  typename V::Register chain[kCount][kPixels][kRowWidth];

  [[gnu::always_inline]] void Start(const float* start, std::int64_t start_step,
                                    std::int64_t start_panel = 0) {
    EachRegister<kPixels, kRowWidth>([&](auto r, auto v) POPRT_INLINED {
      constexpr int kR = decltype(r)::value;
      constexpr int kV = decltype(v)::value;
      chain[0][kR][kV] =
          V::Load(start + kR * start_step + kV / kWidth * start_panel + kV % kWidth * V::kLanes);
      Unroll<kCount - 1>([&](auto c)
                             POPRT_INLINED { chain[decltype(c)::value + 1][kR][kV] = V::Zero(); });
    });
  }

  [[gnu::always_inline]] typename V::Register Total(int r, int v) const {
    auto total = chain[0][r][v];
    Unroll<kCount - 1>(
        [&](auto c) POPRT_INLINED { total = V::Add(total, chain[decltype(c)::value + 1][r][v]); });
    return total;
  }
};

/// The sums of a tile of one block and the first eight lanes of the next, which has no more.
template <class V, int kPixels, int kCount = kChains<kPixels, kRowVectors<V>>>
struct TileAndHalfSums {
  using Vector = V;
  static constexpr int kChainCount = kCount;
  static constexpr int kBlocks = 2;
  static constexpr bool kEndInHalf = true;
  TileSums<V, kPixels, 1, 1, kCount> whole;
  TileSums<typename V::Eight, kPixels, 1, 1, kCount> half;

  [[gnu::always_inline]] void Start(const float* start, std::int64_t start_step,
                                    std::int64_t start_panel) {
    whole.Start(start, start_step);
    half.Start(start + start_panel, start_step);
  }
};

/// Calls f(std::type_identity<sums of a tile>{}) for so many blocks, of the last of which eight
/// lanes, or all. The chains are as many either way.
template <class V, int kPixels, class F>
[[gnu::always_inline]] inline void WithSums(int blocks, bool last_is_half, F f) {
  WithPanels<V>(blocks, [&](auto panels) POPRT_INLINED {
    constexpr int kPanels = decltype(panels)::value;
    if (last_is_half) {
      using Half = TileSums<typename V::Eight, kPixels, 1, 1, kChains<kPixels, kRowVectors<V>>>;
      using Last = std::conditional_t<kPanels == 1, Half, TileAndHalfSums<V, kPixels>>;
      return f(std::type_identity<Last>{});
    }
    f(std::type_identity<TileSums<V, kPixels, kPanels>>{});
  });
}

// ---- Epilogue --------------------------------------------------------------------------------

/// Registers whose values an activation replaces, by `step` floats apart.
struct RegisterRow {
  float* first;
  std::int64_t count;
  std::int64_t step;
};

template <class V, Activation kActivation>
void ActivateAs(const Epilogue& e, const RegisterRow& row) {
  constexpr int kTogether = V::kUnrolls ? 4 : 1;
  using Group = VectorGroup<V, kTogether>;
  float* y = row.first;
  std::int64_t left = row.count;
  for (; left >= kTogether; left -= kTogether, y += kTogether * row.step) {
    Group::Store(Activate<Group, kActivation>(Group::Load(y, row.step), e), y, row.step);
  }
  for (; left > 0; --left, y += row.step) {
    V::Store(Activate<V, kActivation>(V::Load(y), e), y);
  }
}

/// Applies an activation that is no clamp in place. To many pixels at a time: each takes long, but
/// they overlap.
template <class V>
void ActivateInPlace(const Epilogue& e, const RegisterRow& row) {
  WithActivation(e.activation, [&](auto activation) POPRT_INLINED {
    constexpr Activation kActivation = decltype(activation)::value;
    if constexpr (!IsClamp(kActivation)) ActivateAs<V, kActivation>(e, row);
  });
}

/// What is stored of a sum, before an activation that is no clamp: with the number at `at` of the
/// residual, unless that is null, between `low` and `high`.
template <class V>
[[gnu::always_inline]] inline typename V::Register Clamped(typename V::Register sum,
                                                           const float* residual, std::int64_t at,
                                                           typename V::Register low,
                                                           typename V::Register high) {
  if (residual != nullptr) sum = V::Add(sum, V::Load(residual + at));
  // The sum comes second, which keeps a NaN.
  return V::Min(high, V::Max(low, sum));
}

/// Stores the tile at `offset` of y and of the residual, its pixels by `step` apart and its blocks
/// of channels by `panel_step`.
template <class V, int kPixels, int kPanels, int kWidth, int kCount>
[[gnu::always_inline]] inline void FinishTile(
    const TileSums<V, kPixels, kPanels, kWidth, kCount>& sums, const TileEpilogue& e,
    std::int64_t offset, std::int64_t step, float* y, std::int64_t panel_step = 0) {
  float* const out = y + offset;
  const float* const residual = e.residual == nullptr ? nullptr : e.residual + offset;
  const auto low = V::Set(e.low);
  const auto high = V::Set(e.high);
  EachRegister<kPixels, kPanels * kWidth>([&](auto r, auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    const std::int64_t at =
        decltype(r)::value * step + kV / kWidth * panel_step + kV % kWidth * V::kLanes;
    const auto sum = sums.Total(decltype(r)::value, decltype(v)::value);
    V::Store(Clamped<V>(sum, residual, at, low, high), out + at);
  });
  if (e.activation == nullptr) return;
  const bool follow = step == kWidth * V::kLanes;
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v == 0 || (!follow && v < kWidth); ++v) {
      ActivateInPlace<V>(*e.activation, {.first = out + p * panel_step + v * V::kLanes,
                                         .count = follow ? kPixels * kWidth : kPixels,
                                         .step = follow ? V::kLanes : step});
    }
  }
}

template <class V, int kPixels, int kCount>
[[gnu::always_inline]] inline void FinishTile(const TileAndHalfSums<V, kPixels, kCount>& sums,
                                              const TileEpilogue& e, std::int64_t offset,
                                              std::int64_t step, float* y,
                                              std::int64_t panel_step) {
  FinishTile(sums.whole, e, offset, step, y);
  FinishTile(sums.half, e, offset + panel_step, step, y);
}

/// The same for sums that lie in memory.
template <class V>
void FinishSums(const TileEpilogue& e, const float* sums, std::int64_t pixels, float* y) {
  const auto low = V::Set(e.low);
  const auto high = V::Set(e.high);
  const float* const residual = e.residual;
  for (std::int64_t i = 0; i < pixels * kBlock; i += V::kLanes) {
    V::Store(Clamped<V>(V::Load(sums + i), residual, i, low, high), y + i);
  }
  if (e.activation == nullptr) return;
  ActivateInPlace<V>(*e.activation, {.first = y, .count = pixels * kVectors<V>, .step = V::kLanes});
}

/// FinishTile for pixels side by side. Zeros are stored behind a last block that is half, so that
/// operators which compute all lanes meet no numbers that are slow.
template <int kPixels, class Sums>
[[gnu::always_inline]] inline void FinishPixels(const Sums& sums, const TileEpilogue& e,
                                                std::int64_t offset, float* y,
                                                const OutputBlocks& outputs) {
  FinishTile(sums, e, offset, kBlock, y, outputs.y);
  if constexpr (Sums::kEndInHalf) {
    using Eight = typename Sums::Vector::Eight;
    float* const spare = y + offset + (Sums::kBlocks - 1) * outputs.y + Eight::kLanes;
    for (int r = 0; outputs.last_is_half && r < kPixels; ++r) {
      Eight::Store(Eight::Zero(), spare + r * kBlock);
    }
  }
}

}  // namespace poprt::kernels::tile
