#pragma once

#include "runtime/kernels/blocked/vector_highway.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels::tile {
namespace {  // NOLINT: on purpose, see packed/vector_highway.hpp

/// The vector type V of conv_micro_kernels_impl.hpp for processors with AVX2, FMA, F16C and BMI.
struct Avx2 : Blocked<kernels::Avx2> {
  using Eight = Avx2;
};

}  // namespace
}  // namespace poprt::kernels::tile
