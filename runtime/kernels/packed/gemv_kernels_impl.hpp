#pragma once

#include <type_traits>

#include "runtime/kernels/packed/gemv_kernels.hpp"
#include "runtime/kernels/packed/lane_sums_impl.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// GemvKernels written once over the vector type V of vector_type.hpp.
namespace poprt::kernels::gemv {

/// Rows of the matrix that are read side by side: each is a stream the processor fetches ahead.
inline constexpr int kStreams = 8;

/// Adds the products of kRows rows' next kStreams numbers with so many rows of the matrix to `out`,
/// or begins it with them.
template <class V, int kRows, int kRead>
void AddRows(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
             std::int64_t columns, bool accumulate, float* out) {
  const auto add = [&](std::int64_t c, auto load, auto store) POPRT_INLINED {
    typename V::Register sums[kRows];
    for (int r = 0; r < kRows; ++r) {
      sums[r] = accumulate ? load(out + r * columns + c) : V::Zero();
    }
    for (int k = 0; k < kRead; ++k) {
      const auto values = load(b + k * stride + c);
      for (int r = 0; r < kRows; ++r) V::Accumulate(sums[r], V::Set(a[r * depth + k]), values);
    }
    for (int r = 0; r < kRows; ++r) store(sums[r], out + r * columns + c);
  };
  std::int64_t c = 0;
  for (; c + V::kLanes <= columns; c += V::kLanes) {
    add(
        c, [](const float* from) POPRT_INLINED { return V::Load(from); },
        [](auto sum, float* to) POPRT_INLINED { V::Store(sum, to); });
  }
  if (c == columns) return;
  const std::int64_t count = columns - c;
  add(
      c, [count](const float* from) POPRT_INLINED { return V::LoadFirst(from, count); },
      [count](auto sum, float* to) POPRT_INLINED { V::StoreFirst(sum, to, count); });
}

template <class V, int kRows>
void FewByRows(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
               std::int64_t columns, float* out) {
  std::int64_t k = 0;
  for (; k + kStreams <= depth; k += kStreams) {
    AddRows<V, kRows, kStreams>(a + k, b + k * stride, stride, depth, columns, k > 0, out);
  }
  for (; k < depth; ++k) {
    AddRows<V, kRows, 1>(a + k, b + k * stride, stride, depth, columns, k > 0, out);
  }
}

template <class V>
void ByRows(std::int64_t rows, const float* a, const float* b, std::int64_t stride,
            std::int64_t depth, std::int64_t columns, float* out) {
  constexpr decltype(&FewByRows<V, 1>) kProductsOf[kThinRows] = {FewByRows<V, 1>, FewByRows<V, 2>,
                                                                 FewByRows<V, 3>, FewByRows<V, 4>};
  kProductsOf[rows - 1](a, b, stride, depth, columns, out);
}

/// Sums of the products of a's numbers with those of each of kColumns columns, lane by lane.
template <class V, int kColumns>
[[gnu::always_inline]] inline void AddProducts(const float* a, const float* b, std::int64_t stride,
                                               std::int64_t depth,
                                               typename V::Register (&sums)[kColumns]) {
  const auto add = [&](std::int64_t k, auto load) POPRT_INLINED {
    const auto x = load(a + k);
    tile::Unroll<kColumns>([&](auto c) POPRT_INLINED {
      constexpr int kC = decltype(c)::value;
      V::Accumulate(sums[kC], x, load(b + kC * stride + k));
    });
  };
  tile::Unroll<kColumns>([&](auto c) POPRT_INLINED { sums[decltype(c)::value] = V::Zero(); });
  std::int64_t k = 0;
  for (; k + V::kLanes <= depth; k += V::kLanes) {
    add(k, [](const float* from) POPRT_INLINED { return V::Load(from); });
  }
  if (k == depth) return;
  const std::int64_t count = depth - k;
  add(k, [count](const float* from) POPRT_INLINED { return V::LoadFirst(from, count); });
}

/// kColumns dot products. The lanes of kLanes of them are added together.
template <class V, int kColumns>
void DotProducts(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
                 float* out) {
  typename V::Register sums[kColumns];
  AddProducts<V>(a, b, stride, depth, sums);
  if constexpr (kColumns == V::kLanes) {
    V::Store(tile::SumsOfLanes<V>(sums), out);
  } else {
    tile::Unroll<kColumns>([&](auto c) POPRT_INLINED {
      out[decltype(c)::value] = tile::SumOfLanes<V>(sums[decltype(c)::value]);
    });
  }
}

template <class V>
void ByColumns(std::int64_t rows, const float* a, const float* b, std::int64_t stride,
               std::int64_t depth, std::int64_t columns, float* out) {
  std::int64_t c = 0;
  const auto run = [&](auto together) {
    constexpr int kTogether = decltype(together)::value;
    for (; c + kTogether <= columns; c += kTogether) {
      for (std::int64_t r = 0; r < rows; ++r) {
        DotProducts<V, kTogether>(a + r * depth, b + c * stride, stride, depth,
                                  out + r * columns + c);
      }
    }
  };
  run(std::integral_constant<int, V::kLanes>());
  run(std::integral_constant<int, 4>());
  run(std::integral_constant<int, 1>());
}

template <class V>
inline constexpr GemvKernels kKernels = {ByRows<V>, ByColumns<V>};

}  // namespace poprt::kernels::gemv
