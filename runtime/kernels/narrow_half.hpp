#pragma once

#include <cstdint>

/// This header is included by files that are compiled for more than the baseline processor: it must
/// stay free of inline functions.
namespace poprt::kernels {

/// to[i] = from[i] as float16, i in [0, n), with the bits that Float16 gives it: rounded to nearest
/// even, of a NaN the sign only. For processors with AVX2 and F16C.
void NarrowHalvesAvx2(const float* from, std::int64_t n, std::uint16_t* to);

}  // namespace poprt::kernels
