#pragma once

#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

/// What tiles of pixels of convolutions of bytes have in common, over a vector type V as of
/// byte_micro_kernels_impl.hpp. Included only by files that are compiled for one instruction set,
/// hence the unnamed namespace.
namespace poprt::kernels {
namespace {

template <typename V>
constexpr int kBlockVectors = static_cast<int>(kBlock / V::kLanes);

inline ByteEpilogue EpilogueOfOut(const ByteEpilogue& first, std::int64_t out) {
  ByteEpilogue epilogue = first;
  epilogue.bases += out * kBlock;
  epilogue.factors += out * kBlock;
  return epilogue;
}

/// Results of pixels side by side, from the sums of a block of each, which stay in registers: four
/// at a time where it can be, the last four once more with those behind them.
template <typename V, int kPixels>
[[gnu::always_inline]] inline void StorePixels(
    const typename V::Sums (&sums)[kPixels][kBlockVectors<V>], const ByteEpilogue& epilogue,
    std::uint8_t* y) {
  constexpr int kFours = V::kStoresFour ? kPixels / 4 : 0;
  constexpr int kRest = kPixels - 4 * kFours;
  if constexpr (kFours > 0) {
    constexpr bool kOverlaps = kRest > 1;
    tile::Unroll<kFours + (kOverlaps ? 1 : 0)>([&](auto four) POPRT_INLINED {
      constexpr int kEnd = 4 * (decltype(four)::value + 1);
      constexpr int kFirst = (kEnd > kPixels ? kPixels : kEnd) - 4;
      V::StoreFour(sums + kFirst, epilogue, y + kFirst * kBlock);
    });
    if constexpr (kOverlaps) return;
  }
  tile::Unroll<kRest>([&](auto rest) POPRT_INLINED {
    constexpr int kPixel = 4 * kFours + decltype(rest)::value;
    V::StoreBytes(sums[kPixel], epilogue, y + kPixel * kBlock);
  });
}

template <typename V>
[[gnu::always_inline]] inline void StartPixel(const std::int32_t* bases,
                                              typename V::Sums (&sums)[kBlockVectors<V>]) {
  tile::Unroll<kBlockVectors<V>>([&](auto v) POPRT_INLINED {
    sums[decltype(v)::value] = V::LoadSums(bases + decltype(v)::value * V::kLanes);
  });
}

/// The sums of a tile of kPixels pixels by kOuts blocks.
template <typename V, int kPixels, int kOuts>
using TileSums = typename V::Sums[kOuts][kPixels][kBlockVectors<V>];

template <typename V, int kPixels, int kOuts>
[[gnu::always_inline]] inline void StartSums(const std::int32_t* bases,
                                             TileSums<V, kPixels, kOuts>& sums) {
  tile::Unroll<kOuts>([&](auto o) POPRT_INLINED {
    tile::Unroll<kPixels>([&](auto r) POPRT_INLINED {
      constexpr int kOut = decltype(o)::value;
      StartPixel<V>(bases + kOut * kBlock, sums[kOut][decltype(r)::value]);
    });
  });
}

/// Adds the products of a quad of channels of each pixel, of which input_of(r) is the first byte.
template <typename V, int kPixels, int kOuts, typename InputOf>
[[gnu::always_inline]] inline void AddQuad(const Quad* weights, std::int64_t weights_stride,
                                           InputOf input_of, TileSums<V, kPixels, kOuts>& sums) {
  constexpr int kVectors = kBlockVectors<V>;
  decltype(V::LoadFactors(nullptr)) factors[kOuts][kVectors];
  for (int o = 0; o < kOuts; ++o) {
    for (int v = 0; v < kVectors; ++v) {
      factors[o][v] = V::LoadFactors(weights + o * weights_stride + v * V::kLanes);
    }
  }
  for (int r = 0; r < kPixels; ++r) {
    const typename V::Values values = V::Repeat(input_of(r));
    for (int o = 0; o < kOuts; ++o) {
      for (int v = 0; v < kVectors; ++v) {
        sums[o][r][v] = V::Add(sums[o][r][v], values, factors[o][v]);
      }
    }
  }
}

}  // namespace
}  // namespace poprt::kernels
