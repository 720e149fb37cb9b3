#pragma once

#include "runtime/kernels/packed/thin_product.hpp"
#include "runtime/kernels/packed/tile_kernels_impl.hpp"

// ThinProducts written once over the vector type V of tile_kernels_impl.hpp.
namespace poprt::kernels::thin {

// As in tile_kernels_impl.hpp.
#define POPRT_INLINE __attribute__((always_inline))

/// Rows of the matrix that are read side by side: each is a stream the processor fetches ahead.
inline constexpr int kStreams = 8;

/// out += a[0..kRows) * rows; or out = that.
template <class V, int kRows>
void AddRows(const float* a, const float* b, std::int64_t stride, std::int64_t columns,
             bool accumulate, float* out) {
  std::int64_t c = 0;
  for (; c + V::kLanes <= columns; c += V::kLanes) {
    auto sum = accumulate ? V::Load(out + c) : V::Zero();
    for (int r = 0; r < kRows; ++r) V::Accumulate(sum, V::Set(a[r]), V::Load(b + r * stride + c));
    V::Store(sum, out + c);
  }
  if (c == columns) return;
  const std::int64_t count = columns - c;
  auto sum = accumulate ? V::LoadFirst(out + c, count) : V::Zero();
  for (int r = 0; r < kRows; ++r) {
    V::Accumulate(sum, V::Set(a[r]), V::LoadFirst(b + r * stride + c, count));
  }
  V::StoreFirst(sum, out + c, count);
}

template <class V>
void RowByRows(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
               std::int64_t columns, float* out) {
  std::int64_t k = 0;
  for (; k + kStreams <= depth; k += kStreams) {
    AddRows<V, kStreams>(a + k, b + k * stride, stride, columns, k > 0, out);
  }
  for (; k < depth; ++k) AddRows<V, 1>(a + k, b + k * stride, stride, columns, k > 0, out);
}

/// kColumns dot products of `depth` numbers.
template <class V, int kColumns>
void DotProducts(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
                 float* out) {
  typename V::Register sums[kColumns];
  tile::Unroll<kColumns>([&](auto c) POPRT_INLINE { sums[decltype(c)::value] = V::Zero(); });
  std::int64_t k = 0;
  for (; k + V::kLanes <= depth; k += V::kLanes) {
    const auto x = V::Load(a + k);
    tile::Unroll<kColumns>([&](auto c) POPRT_INLINE {
      constexpr int kC = decltype(c)::value;
      V::Accumulate(sums[kC], x, V::Load(b + kC * stride + k));
    });
  }
  if (k < depth) {
    const auto x = V::LoadFirst(a + k, depth - k);
    tile::Unroll<kColumns>([&](auto c) POPRT_INLINE {
      constexpr int kC = decltype(c)::value;
      V::Accumulate(sums[kC], x, V::LoadFirst(b + kC * stride + k, depth - k));
    });
  }
  tile::Unroll<kColumns>([&](auto c) POPRT_INLINE {
    float lanes[V::kLanes];
    V::Store(sums[decltype(c)::value], lanes);
    float total = 0;
    for (const float lane : lanes) total += lane;
    out[decltype(c)::value] = total;
  });
}

template <class V>
void RowByColumns(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
                  std::int64_t columns, float* out) {
  constexpr int kTogether = 4;
  std::int64_t c = 0;
  for (; c + kTogether <= columns; c += kTogether) {
    DotProducts<V, kTogether>(a, b + c * stride, stride, depth, out + c);
  }
  for (; c < columns; ++c) DotProducts<V, 1>(a, b + c * stride, stride, depth, out + c);
}

template <class V>
inline constexpr ThinProducts kProducts = {RowByRows<V>, RowByColumns<V>};

}  // namespace poprt::kernels::thin

#undef POPRT_INLINE
