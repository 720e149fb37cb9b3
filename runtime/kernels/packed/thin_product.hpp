#pragma once

#include <cstdint>

/// Products of one row with a matrix, which is read once, where it lies. This header is included by
/// files that are compiled for more than the baseline processor: it must stay free of inline
/// functions.
namespace poprt::kernels {

struct ThinProducts {
  /// out[c] = sum over k of a[k] * b[k * stride + c], for c in [0, columns).
  void (*row_by_rows)(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
                      std::int64_t columns, float* out);
  /// out[c] = sum over k of a[k] * b[c * stride + k], for c in [0, columns).
  void (*row_by_columns)(const float* a, const float* b, std::int64_t stride, std::int64_t depth,
                         std::int64_t columns, float* out);
};

/// For each instruction set, see inner_loops.hpp.
extern const ThinProducts kPortableThinProducts;
extern const ThinProducts kAvx2ThinProducts;
extern const ThinProducts kAvx512ThinProducts;

}  // namespace poprt::kernels
