#pragma once

#include "runtime/kernels/quantized/quad_tiles.hpp"

/// The tiles over a vector type V of one instruction set, with V::kLanes lanes:
/// * V::Values, V::Factors, V::Sums: what four bytes per lane are kept as, and 32-bit sums;
/// * V::Load(const Quad*), V::Broadcast(Quad), V::Zero(), V::Store(std::int32_t*, Sums);
/// * V::Add(Sums, Values, Factors): the sums with the four products of each lane;
/// * V::kVectors and V::kMostRows: vectors side by side, and rows, that registers have room for.
/// Included only by files that are compiled for one instruction set, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

template <typename V, int kRows, int kVectors>
void MultiplyVectors(const Quad* values, const std::int64_t* offsets, const Quad* factors,
                     std::int64_t count, std::int32_t* out, std::int64_t pitch) {
  typename V::Sums sums[kRows][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = V::Zero();
  }
  for (std::int64_t t = 0; t < count; ++t) {
    const Quad* from = values + offsets[t];
    typename V::Values lanes[kVectors];
    for (int v = 0; v < kVectors; ++v) lanes[v] = V::Load(from + v * V::kLanes);
    for (int r = 0; r < kRows; ++r) {
      const typename V::Factors factor = V::Broadcast(factors[r * count + t]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = V::Add(sums[r][v], lanes[v], factor);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) V::Store(out + r * pitch + v * V::kLanes, sums[r][v]);
  }
}

template <typename V, int kRows>
void MultiplyRows(std::int64_t lanes, const Quad* values, const std::int64_t* offsets,
                  const Quad* factors, std::int64_t count, std::int32_t* out, std::int64_t pitch) {
  std::int64_t lane = 0;
  const auto multiply = [&]<int kVectors>() {
    for (; lane + kVectors * V::kLanes <= lanes; lane += kVectors * V::kLanes) {
      MultiplyVectors<V, kRows, kVectors>(values + lane, offsets, factors, count, out + lane,
                                          pitch);
    }
  };
  multiply.template operator()<V::kVectors>();
  if constexpr (V::kVectors > 2) multiply.template operator()<2>();
  if constexpr (V::kLanes == kQuadVector) multiply.template operator()<1>();
}

template <typename V>
void Multiply(std::int64_t rows, std::int64_t lanes, const Quad* values,
              const std::int64_t* offsets, const Quad* factors, std::int64_t count,
              std::int32_t* out, std::int64_t pitch) {
  constexpr decltype(&MultiplyRows<V, 1>) kByRows[] = {MultiplyRows<V, 1>, MultiplyRows<V, 2>,
                                                       MultiplyRows<V, 3>, MultiplyRows<V, 4>,
                                                       MultiplyRows<V, 5>, MultiplyRows<V, 6>};
  while (rows > 0) {
    const std::int64_t some = rows < V::kMostRows ? rows : V::kMostRows;
    kByRows[some - 1](lanes, values, offsets, factors, count, out, pitch);
    rows -= some;
    factors += some * count;
    out += some * pitch;
  }
}

template <std::int64_t kCount>
inline void InterleaveSome(const std::uint8_t* const* rows, std::int64_t first, Quad move,
                           Quad* to) {
  const std::uint8_t* a = rows[0] + first;
  const std::uint8_t* b = rows[1] + first;
  const std::uint8_t* c = rows[2] + first;
  const std::uint8_t* d = rows[3] + first;
  Quad quads[kCount];
  for (std::int64_t i = 0; i < kCount; ++i) {
    quads[i] = (Quad{a[i]} | Quad{b[i]} << 8 | Quad{c[i]} << 16 | Quad{d[i]} << 24) ^ move;
  }
  for (std::int64_t i = 0; i < kCount; ++i) to[first + i] = quads[i];
}

inline void Interleave(const std::uint8_t* const* rows, std::int64_t n, Quad move, Quad* to) {
  constexpr std::int64_t kMany = 16;
  constexpr std::int64_t kSome = 8;
  std::int64_t i = 0;
  for (; i + kMany <= n; i += kMany) InterleaveSome<kMany>(rows, i, move, to);
  for (; i + kSome <= n; i += kSome) InterleaveSome<kSome>(rows, i, move, to);
  if (i < n && n >= kSome) {
    InterleaveSome<kSome>(rows, n - kSome, move, to);  // the first of them again
    i = n;
  }
  for (; i < n; ++i) InterleaveSome<1>(rows, i, move, to);
}

}  // namespace
}  // namespace poprt::kernels
