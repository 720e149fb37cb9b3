#pragma once

#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

/// The tiles over a vector type V of one instruction set, with V::kLanes lanes:
/// * V::Values, V::Factors, V::Sums: what four bytes per lane are kept as, and 32-bit sums;
/// * V::Load(const Quad*), V::Broadcast(Quad), V::Zero(), V::LoadSums(const std::int32_t*),
///   V::Store(std::int32_t*, Sums);
/// * V::Add(Sums, Values, Factors): the sums with the four products of each lane;
/// * V::Repeat(four bytes), V::FourPixels(pixels, lane): values of all lanes, or whose lane c are
///   bytes lane + c of four pixels of 16 bytes; V::LoadFactors(const Quad*), and Add for these;
/// * V::kPairsPixels: whether registers have room for two sums and all weights of 3x3 taps, and, if
///   so, V::LoadNextFactors(const Quad*): factors one byte further;
/// * V::StoreBytes(sums of 16 channels, ByteEpilogue, to);
/// * V::kStoresFour, and, if so, V::StoreFour(sums of 16 channels of four pixels, ByteEpilogue,
/// to),
///   which takes less than four times as long;
/// * V::kVectors and V::kMostRows: vectors side by side, and rows, that registers have room for;
/// * V::kTileOuts and V::kTilePixels: the same of convolutions, blocks and at least four pixels.
/// Included only by files that are compiled for one instruction set, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

template <typename V, int kRows, int kVectors>
void MultiplyVectors(const Quad* values, const std::int64_t* offsets, const Quad* factors,
                     std::int64_t count, std::int32_t* out, std::int64_t pitch) {
  typename V::Sums sums[kRows][kVectors];
  const auto each_sum = [](auto f) POPRT_INLINED {
    tile::Unroll<kRows>([&](auto r) POPRT_INLINED {
      tile::Unroll<kVectors>([&](auto v) POPRT_INLINED { f(r, v); });
    });
  };
  each_sum([&](auto r, auto v)
               POPRT_INLINED { sums[decltype(r)::value][decltype(v)::value] = V::Zero(); });
  for (std::int64_t t = 0; t < count; ++t) {
    const Quad* from = values + offsets[t];
    typename V::Values lanes[kVectors];
    for (int v = 0; v < kVectors; ++v) lanes[v] = V::Load(from + v * V::kLanes);
    for (int r = 0; r < kRows; ++r) {
      const typename V::Factors factor = V::Broadcast(factors[r * count + t]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = V::Add(sums[r][v], lanes[v], factor);
    }
  }
  each_sum([&](auto r, auto v) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    constexpr int kV = decltype(v)::value;
    V::Store(out + kR * pitch + kV * V::kLanes, sums[kR][kV]);
  });
}

/// All rows of kVectors vectors of lanes.
template <typename V, int kVectors>
void MultiplyRows(std::int64_t rows, const Quad* values, const std::int64_t* offsets,
                  const Quad* factors, std::int64_t count, std::int32_t* out, std::int64_t pitch) {
  constexpr decltype(&MultiplyVectors<V, 1, kVectors>) kByRows[] = {
      MultiplyVectors<V, 1, kVectors>, MultiplyVectors<V, 2, kVectors>,
      MultiplyVectors<V, 3, kVectors>, MultiplyVectors<V, 4, kVectors>,
      MultiplyVectors<V, 5, kVectors>, MultiplyVectors<V, 6, kVectors>};
  while (rows > 0) {
    const std::int64_t some = rows < V::kMostRows ? rows : V::kMostRows;
    kByRows[some - 1](values, offsets, factors, count, out, pitch);
    rows -= some;
    factors += some * count;
    out += some * pitch;
  }
}

template <typename V>
void Multiply(std::int64_t rows, std::int64_t lanes, const Quad* values,
              const std::int64_t* offsets, const Quad* factors, std::int64_t count,
              std::int32_t* out, std::int64_t pitch) {
  const auto multiply = [&]<int kVectors>(std::int64_t lane) {
    MultiplyRows<V, kVectors>(rows, values + lane, offsets, factors, count, out + lane, pitch);
  };
  // One vector at a time would wait for its sums: the last ones are shared out.
  constexpr std::int64_t kMost = V::kVectors * V::kLanes;
  constexpr int kLastVectors = V::kVectors < 2 ? V::kVectors : 2;
  constexpr std::int64_t kLast = kLastVectors * V::kLanes;
  std::int64_t lane = 0;
  for (; lanes - lane == kMost || lanes - lane > kMost + V::kLanes; lane += kMost) {
    multiply.template operator()<V::kVectors>(lane);
  }
  for (; lanes - lane >= kLast; lane += kLast) multiply.template operator()<kLastVectors>(lane);
  if constexpr (V::kLanes == kQuadVector) {
    if (lane < lanes) multiply.template operator()<1>(lane);
  }
}

using Bytes [[gnu::vector_size(16)]] = std::uint8_t;

/// 4, 8 or 16 bytes, the lowest of a vector. Few go through a word: a vector that is written in
/// parts cannot be read at once.
template <int kCount>
inline Bytes LoadBytes(const std::uint8_t* from) {
  using Words [[gnu::vector_size(16)]] = std::uint64_t;
  if constexpr (kCount == 16) {
    Bytes bytes;
    __builtin_memcpy(&bytes, from, kCount);
    return bytes;
  } else {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, from, kCount);
    return reinterpret_cast<Bytes>(Words{word, 0});
  }
}

/// kCount quads from `first` on.
template <int kCount>
inline void InterleaveSome(const std::uint8_t* const* rows, std::int64_t first, Quad move,
                           Quad* to) {
  using Pairs [[gnu::vector_size(16)]] = std::uint16_t;
  using Quads [[gnu::vector_size(16)]] = Quad;
  Bytes row[4];
  for (int i = 0; i < 4; ++i) row[i] = LoadBytes<kCount>(rows[i] + first);
  const auto lower = [](Bytes a, Bytes b) {
    return reinterpret_cast<Pairs>(
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  };
  const auto upper = [](Bytes a, Bytes b) {
    return reinterpret_cast<Pairs>(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                           28, 13, 29, 14, 30, 15, 31));
  };
  const auto store = [&](Pairs ab, Pairs cd, Quad* at) {
    const auto low =
        reinterpret_cast<Quads>(__builtin_shufflevector(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11)) ^ move;
    __builtin_memcpy(at, &low, sizeof(low));
    if constexpr (kCount >= 8) {
      const auto high =
          reinterpret_cast<Quads>(__builtin_shufflevector(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15)) ^
          move;
      __builtin_memcpy(at + 4, &high, sizeof(high));
    }
  };
  store(lower(row[0], row[1]), lower(row[2], row[3]), to + first);
  if constexpr (kCount > 8) store(upper(row[0], row[1]), upper(row[2], row[3]), to + first + 8);
}

/// n >= kCount quads; the last of them in one go with some before them, once more.
template <int kCount>
inline void InterleaveMany(const std::uint8_t* const* rows, std::int64_t n, Quad move, Quad* to) {
  for (std::int64_t i = 0; i + kCount <= n; i += kCount) InterleaveSome<kCount>(rows, i, move, to);
  if (n % kCount != 0) InterleaveSome<kCount>(rows, n - kCount, move, to);
}

inline void Interleave(const std::uint8_t* const* rows, std::int64_t n, Quad move, Quad* to) {
  if (n >= 16) return InterleaveMany<16>(rows, n, move, to);
  if (n >= 8) return InterleaveMany<8>(rows, n, move, to);
  if (n >= 4) return InterleaveMany<4>(rows, n, move, to);
  for (std::int64_t i = 0; i < n; ++i) {
    const Quad quad =
        rows[0][i] | Quad{rows[1][i]} << 8 | Quad{rows[2][i]} << 16 | Quad{rows[3][i]} << 24;
    to[i] = quad ^ move;
  }
}

}  // namespace
}  // namespace poprt::kernels
