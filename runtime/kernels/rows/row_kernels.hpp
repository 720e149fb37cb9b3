#pragma once

#include <cstdint>

/// The inner loops that look at whole rows: softmax and normalisation, once for every kind of
/// processor. As gemm_micro_kernels.hpp this header must stay free of inline functions.
namespace poprt::kernels {

/// Some rows of attention scores, and what becomes of them.
struct ScoreRows {
  float* scores;              ///< panels of 16 columns; overwritten
  std::int64_t score_stride;  ///< floats from one row of a panel to the next
  std::int64_t panel_stride;  ///< floats from one panel to the next
  std::int64_t rows;
  std::int64_t keys;  ///< columns
  float scale;        ///< of the scores
  /// Where `keep` is not `keep_if`, the scaled score is replaced by `fill`. Null for nowhere.
  const std::uint8_t* keep;
  std::int64_t keep_stride;  ///< elements from one row to the next
  bool keep_if;
  float fill;
  const float* mask;  ///< added then, or null
  std::int64_t mask_stride;
  /// Row r has the first `visible` + r keys only (at least 1); `keys` or more for all.
  std::int64_t visible;
  /// exp(x - max of the row), zero behind the visible keys; row-major. May be `scores` that are so.
  float* weights;
  std::int64_t weights_stride;
  float* factors;  ///< per row 1 / sum of its weights
};

/// Where some columns of weighted sums go, each row multiplied by its factor.
struct ScaledRows {
  const float* tile;  ///< [rows][16]
  std::int64_t rows;
  std::int64_t columns;  ///< at most 16
  const float* factors;
  void* out;
  std::int64_t row_stride;
  bool half;  ///< `out` is float16 instead of float32
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias for each of some rows x = a + b, which
/// follow each other. RMS normalisation takes no mean off.
struct NormRows {
  const float* a;
  const float* b;      ///< or null
  float* sum;          ///< receives a + b unless null
  const float* scale;  ///< or null
  const float* bias;   ///< or null
  float* y;            ///< may be `a` or `b`
  std::int64_t count;
  std::int64_t length;
  float epsilon;
  bool centered;
};

struct RowKernels {
  void (*softmax_scores)(const ScoreRows& block);
  void (*store_scaled)(const ScaledRows& rows);
  /// y = softmax(x) for one row; y may be x.
  void (*softmax)(const float* x, std::int64_t length, float* y);
  /// The sum of exp(x - m) for one row, m its largest element, which goes to `largest`.
  float (*exp_sum)(const float* x, std::int64_t length, float* largest);
  /// No result depends on how many rows there are.
  void (*normalize)(const NormRows& rows);
};

/// For each instruction set, see inner_loops.hpp.
extern const RowKernels kPortableRowKernels;
extern const RowKernels kAvx2RowKernels;
extern const RowKernels kAvx512RowKernels;

}  // namespace poprt::kernels
