#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// How scaled panels, see scaled_panels.hpp, are widened.
namespace poprt::kernels::tile {

/// Of what V::EachScaled gives.
template <class V>
typename V::Register LoadScales(const std::int32_t* line) {
  return V::Mul(V::Load(reinterpret_cast<const float*>(line)), V::Set(0x1p-16F));
}

template <class V>
void WidenScaled(const std::int32_t* line, std::int64_t depth, float* panel) {
  while (depth > 0) {
    typename V::Register scales[kVectors<V>];
    Unroll<kVectors<V>>([&](auto v)
                            POPRT_INLINED { scales[v] = LoadScales<V>(line + v * V::kLanes); });
    line += kColumns;
    std::int64_t rows = depth < kScaledBlock ? depth : kScaledBlock;
    depth -= rows;
    for (; rows > 0; rows -= 2, line += kColumns, panel += 2 * kColumns) {
      Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
        V::EachScaled(line + v * V::kLanes, [&](auto r, auto row) POPRT_INLINED {
          V::Store(V::Mul(row, scales[v]), panel + r * kColumns + v * V::kLanes);
        });
      });
    }
  }
}

}  // namespace poprt::kernels::tile
