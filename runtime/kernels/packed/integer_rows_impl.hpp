#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Products of few rows with weights that are stored as integers: these become floats on the way to
// the registers, sums of a block are multiplied by its scales.
namespace poprt::kernels::tile {

/// sums += A * B for one step of the depth, row kStep of the groups at b.
template <class V, int kBits, int kStep, int kRows, int kRowWidth>
[[gnu::always_inline]] inline void IntegerStep(const float* a, std::int64_t lda, const std::byte* b,
                                               std::int64_t panel_stride,
                                               typename V::Register (&sums)[kRows][kRowWidth]) {
  constexpr int kWidth = kVectors<V>;
  typename V::Register columns[kRowWidth];
  Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    columns[kV] =
        V::template Integers<kBits, kStep>(b + kV / kWidth * panel_stride, kV % kWidth * V::kLanes);
  });
  Unroll<kRows>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::template Repeat<kRowWidth>(a + kR * lda);
    Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums[kR][kV], factor, columns[kV]);
    });
  });
}

/// kRows rows times kPanels panels of integers of kBits bits.
template <class V, int kRows, int kPanels, int kBits>
void IntegerRows(const float* a, std::int64_t lda, const IntegerPanels& panels, std::int64_t depth,
                 const Tiles& tiles) {
  using R = typename V::Register;
  constexpr int kWidth = kVectors<V>;
  constexpr int kRowWidth = kPanels * kWidth;
  constexpr int kSums = kChains<kRows, V::kPanels * kWidth>;
  constexpr int kSteps = 32 / kBits;                         // of the depth, in a group
  constexpr std::int64_t kBytes = kColumns * sizeof(float);  // of a group, or of scales
  const std::byte* b = panels.first;
  for (std::int64_t first = 0; first < depth; first += panels.block) {
    const std::byte* const scales = b;
    b += kBytes;
    R sums[kSums][kRows][kRowWidth];
    Unroll<kSums * kRows * kRowWidth>([&](auto i) POPRT_INLINED {
      constexpr int kI = decltype(i)::value;
      sums[kI / kRowWidth / kRows][kI / kRowWidth % kRows][kI % kRowWidth] = V::Zero();
    });
    std::int64_t left = panels.block < depth - first ? panels.block : depth - first;
    for (; left >= kSteps; left -= kSteps) {
      Unroll<kSteps>([&](auto s) POPRT_INLINED {
        constexpr int kStep = decltype(s)::value;
        IntegerStep<V, kBits, kStep>(a + kStep, lda, b, panels.stride, sums[kStep % kSums]);
      });
      a += kSteps;
      b += kBytes;
    }
    if (left > 0) {
      Unroll<kSteps - 1>([&](auto s) POPRT_INLINED {
        constexpr int kStep = decltype(s)::value;
        if (kStep >= left) return;
        IntegerStep<V, kBits, kStep>(a + kStep, lda, b, panels.stride, sums[kStep % kSums]);
      });
      a += left;
      b += kBytes;
    }
    Unroll<kRows * kRowWidth>([&](auto i) POPRT_INLINED {
      constexpr int kR = decltype(i)::value / kRowWidth;
      constexpr int kV = decltype(i)::value % kRowWidth;
      R sum = sums[0][kR][kV];
      Unroll<kSums - 1>(
          [&](auto c) POPRT_INLINED { sum = V::Add(sum, sums[decltype(c)::value + 1][kR][kV]); });
      constexpr int kLane = kV % kWidth * V::kLanes;
      const auto* scale =
          reinterpret_cast<const float*>(scales + kV / kWidth * panels.stride) + kLane;
      float* const at = tiles.first + kV / kWidth * tiles.stride + kR * kColumns + kLane;
      const R before = first == 0 ? V::Zero() : V::Load(at);
      V::Store(V::MulAdd(sum, V::Load(scale), before), at);
    });
  }
}

template <class V>
void FewRowsOfIntegers(int rows, const float* a, std::int64_t lda, const IntegerPanels& b,
                       std::int64_t depth, const Tiles& tiles) {
  WithPanels<V>(b.count, [&](auto panels) POPRT_INLINED {
    WithRows<kTileRows>(rows, [&](auto constant) POPRT_INLINED {
      constexpr int kRows = decltype(constant)::value;
      constexpr int kPanels = decltype(panels)::value;
      if (b.bits == 4) return IntegerRows<V, kRows, kPanels, 4>(a, lda, b, depth, tiles);
      IntegerRows<V, kRows, kPanels, 8>(a, lda, b, depth, tiles);
    });
  });
}

}  // namespace poprt::kernels::tile
