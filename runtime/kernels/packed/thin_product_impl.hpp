#pragma once

#include "runtime/kernels/packed/thin_product.hpp"
#include "runtime/kernels/packed/tile_kernels_impl.hpp"

// ThinProducts written once over the vector type V of tile_kernels_impl.hpp.
namespace poprt::kernels::thin {

/// Rows of the matrix that are read side by side: each is a stream the processor fetches ahead.
inline constexpr int kStreams = 8;

/// out += a[0..kRows) * rows; or out = that.
template <class V, int kRows>
void AddRows(const float* a, const float* b, std::int64_t stride, std::int64_t columns,
             bool accumulate, float* out) {
  std::int64_t c = 0;
  for (; c + tile::kLanes <= columns; c += tile::kLanes) {
    auto sum = accumulate ? V::Load(out + c) : V::Zero();
    for (int r = 0; r < kRows; ++r) V::Accumulate(sum, V::Set(a[r]), V::Load(b + r * stride + c));
    V::Store(sum, out + c);
  }
  for (; c < columns; ++c) {
    float sum = accumulate ? out[c] : 0.0F;
    for (int r = 0; r < kRows; ++r) sum += a[r] * b[r * stride + c];
    out[c] = sum;
  }
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
  for (auto& sum : sums) sum = V::Zero();
  std::int64_t k = 0;
  for (; k + tile::kLanes <= depth; k += tile::kLanes) {
    const auto x = V::Load(a + k);
    for (int c = 0; c < kColumns; ++c) V::Accumulate(sums[c], x, V::Load(b + c * stride + k));
  }
  for (int c = 0; c < kColumns; ++c) {
    float lanes[tile::kLanes];
    V::Store(sums[c], lanes);
    float total = 0;
    for (const float lane : lanes) total += lane;
    for (std::int64_t i = k; i < depth; ++i) total += a[i] * b[c * stride + i];
    out[c] = total;
  }
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
