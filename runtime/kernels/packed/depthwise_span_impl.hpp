#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Depthwise filters over planes with their padding.
namespace poprt::kernels::tile {

template <class V, int kWidth>
[[gnu::always_inline]] inline void DepthwiseStrip(const DepthwiseSpan& call, std::int64_t first) {
  typename V::Register sums[kWidth];
  Unroll<kWidth>([&](auto v) POPRT_INLINED { sums[decltype(v)::value] = V::Set(call.bias); });
  for (std::int64_t t = 0; t < call.taps; ++t) {
    const auto weight = V::Set(call.weights[t]);
    const float* source = call.planes + first + call.tap_offset[t];
    Unroll<kWidth>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums[kV], weight, V::Load(source + kV * V::kLanes));
    });
  }
  Unroll<kWidth>([&](auto v) POPRT_INLINED {
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

}  // namespace poprt::kernels::tile
