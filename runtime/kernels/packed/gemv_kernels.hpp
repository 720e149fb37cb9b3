#pragma once

#include <cstdint>

/// Products of few rows with a matrix, which is read once, where it lies. This header is included
/// by files that are compiled for more than the baseline processor: it must stay free of inline
/// functions.
namespace poprt::kernels {

/// Rows for which packing the matrix would cost more, at most.
inline constexpr int kThinRows = 4;

struct GemvKernels {
  /// out[r * columns + c] = sum over k of a[r * depth + k] * b[k * stride + c], for r in [0, rows),
  /// rows <= kThinRows, and c in [0, columns).
  void (*by_rows)(std::int64_t rows, const float* a, const float* b, std::int64_t stride,
                  std::int64_t depth, std::int64_t columns, float* out);
  /// The same with b[c * stride + k].
  void (*by_columns)(std::int64_t rows, const float* a, const float* b, std::int64_t stride,
                     std::int64_t depth, std::int64_t columns, float* out);
};

/// For each instruction set, see inner_loops.hpp.
extern const GemvKernels kPortableGemvKernels;
extern const GemvKernels kAvx2GemvKernels;
extern const GemvKernels kAvx512GemvKernels;

}  // namespace poprt::kernels
