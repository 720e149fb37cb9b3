#pragma once

#include "runtime/kernels/blocked/vector_avx2.hpp"
#include "runtime/kernels/blocked/vector_highway.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels::tile {
namespace {  // NOLINT: on purpose, see packed/vector_highway.hpp

/// The vector type V of conv_micro_kernels_impl.hpp for processors with AVX-512 F, BW, VL and DQ.
struct Avx512 : Blocked<kernels::Avx512> {
  /// With as many registers.
  struct Eight : Avx2 {
    static constexpr int kRows = kernels::Avx512::kRows;
  };
  static Eight::Register Low(Register x) { return hn::LowerHalf(Vector{x}).raw; }
};

}  // namespace
}  // namespace poprt::kernels::tile
