#pragma once

#include <cstdint>

#include "runtime/kernels/packed/tile_sizes.hpp"

/// The inner loops of the packed kernels, once for every kind of processor. This header is included
/// by files that are compiled for more than the baseline processor: it must stay free of inline
/// functions, which the linker might take from there.
namespace poprt::kernels {

/// What is applied to a result before it is rounded and stored.
enum class Activation : std::uint8_t {
  kNone,
  kRelu,
  kClip,  ///< to [first, second]
  kGeluErf,
  kGeluTanh,
  kSigmoid,
  kTanh,
  kSilu,
  kHardSwish,
  kLeakyRelu,  ///< slope `first` below zero
};

/// Where a tile of float32 results goes and what is done to it on the way:
///   out[row][col] = act(tile[row][col] * scale + bias + residual[row][col])
struct Epilogue {
  Activation activation = Activation::kNone;
  float first = 0;
  float second = 0;
  float scale = 1;
  const float* column_bias = nullptr;  ///< one per column, or null
  const float* row_bias = nullptr;     ///< one per row, or null
  const void* residual = nullptr;      ///< laid out as `out`, or null
  void* out = nullptr;
  std::int64_t row_stride = 0;  ///< elements from one row of `out` to the next
  bool half = false;            ///< `out` and `residual` are float16 instead of float32
};

/// `count` elements that follow each other in the source by the `step` of the call and become
/// columns [at, at + count) of a panel; at + count <= 16.
struct PanelSegment {
  std::int64_t offset;  ///< of the first one, in elements
  std::int64_t at;
  std::int64_t count;
};

/// Depthwise filter over the padded planes of one channel, which hold an output row's columns at
/// the same pitch as all others, so that a block of rows is one span.
struct DepthwiseSpan {
  const float* planes;
  const std::int64_t* tap_offset;  ///< per tap, from the first output's window
  const float* weights;            ///< per tap
  std::int64_t taps;
  float bias;
  float* out;
  std::int64_t count;  ///< outputs; up to 31 more are computed from what lies behind
};

/// Panels of 16 columns by which the same rows are multiplied: B[p][k][c] = first[p * stride +
/// k * 16 + c].
template <class T>
struct Panels {
  const T* first;
  std::int64_t stride = 0;
  int count = 1;
};

/// How a product fetches what is needed next, for every four rows of the depth: a line of each
/// panel, of interleaved rows two, into the first-level cache; two into the second; or all that
/// four rows of its own panels are, into the first.
enum class Fetching { kNear, kFar, kOwn };

/// Memory that is needed soon and is fetched meanwhile, never accessed: `step` elements for every
/// four rows of the depth, of as many panels from `first` on, as far from each other as those in
/// use.
template <class T>
struct Ahead {
  const T* first;
  std::int64_t step;
  Fetching fetching;
};

/// Where the products with some panels go, and what is added to them there: a tile of rows x 16,
/// row-major, for each of them.
struct Tiles {
  float* first;
  std::int64_t stride = 0;           ///< floats from one tile to the next
  std::int64_t row_stride = kPanel;  ///< floats from one row of a tile to the next
  const float* bias = nullptr;       ///< one per column, of one panel after the other, or null
  const float* residual = nullptr;   ///< laid out as the tiles, or null
};

/// Float16 operands are passed as their bits.
struct GemmMicroKernels {
  /// Panels that a product passes over at once: 2 where the registers are wide enough for a row of
  /// both, else 1. Each result is the same either way.
  int panels;
  /// Rows that a product computes at once, at most: 8 where there are registers for their sums,
  /// else 6. A tile of six rows of two panels waits for its own sums now and then.
  int rows;

  /// tiles[p] = (accumulate ? tiles[p] : 0) + A * B[p] + bias[p] + residual[p], row_count in [1,
  /// rows], B.count 1 or 2 up to `panels`, of up to six rows that are all there are (`ahead` is
  /// kOwn) 1, 2 or kMostTilePanels. A[r][k] = a[r * lda + k].
  void (*row_major_f32)(int row_count, const float* a, std::int64_t lda, const Panels<float>& b,
                        std::int64_t depth, const Ahead<float>& ahead, const Tiles& tiles,
                        bool accumulate);
  /// The same with float16 panels.
  void (*row_major_f16)(int row_count, const float* a, std::int64_t lda,
                        const Panels<std::uint16_t>& b, std::int64_t depth,
                        const Ahead<std::uint16_t>& ahead, const Tiles& tiles, bool accumulate);
  /// The same for up to 6 rows with A[r][k] = a[k * row_count + r]; weights, like A, are needed
  /// from `ahead` on.
  void (*interleaved)(int row_count, const float* a, const Panels<float>& b, std::int64_t depth,
                      const Ahead<float>& ahead, const Tiles& tiles, bool accumulate);
  /// As `interleaved`, for the first 8 columns of one panel at least; the others may get any value.
  void (*interleaved_narrow)(int row_count, const float* a, const Panels<float>& b,
                             std::int64_t depth, const Ahead<float>& ahead, const Tiles& tiles,
                             bool accumulate);

  /// Stores rows x cols results, the first one at out[row][col]; columns are counted from the start
  /// of a row of `out` and of `column_bias`.
  void (*finish)(const Epilogue& epilogue, const float* tile, std::int64_t tile_stride,
                 std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col);

  /// Fills panel[r][0..16) for `rows` rows from source + r * row_stride; columns outside the
  /// segments, which are ordered, become zero. Nothing at or behind `end` is read. 16 more floats
  /// behind the panel are overwritten.
  void (*gather_f32)(const float* source, std::int64_t row_stride, std::int64_t rows,
                     const PanelSegment* segments, std::int64_t segment_count, std::int64_t step,
                     const float* end, float* panel);
  void (*gather_f16)(const std::uint16_t* source, std::int64_t row_stride, std::int64_t rows,
                     const PanelSegment* segments, std::int64_t segment_count, std::int64_t step,
                     const std::uint16_t* end, float* panel);

  /// panel[k][c] = source[c * column_stride + k] for c < cols, zero for the others up to 16.
  void (*gather_transposed_f32)(const float* source, std::int64_t column_stride, std::int64_t cols,
                                std::int64_t depth, float* panel);
  void (*gather_transposed_f16)(const std::uint16_t* source, std::int64_t column_stride,
                                std::int64_t cols, std::int64_t depth, float* panel);

  /// Rows [0, depth) of a scaled panel (scaled_panels.hpp), from the beginning of a block on, and
  /// zeros up to a whole line of rows.
  void (*widen_scaled)(const std::int32_t* lines, std::int64_t depth, float* panel);

  /// Converts `count` elements.
  void (*widen)(const std::uint16_t* source, std::int64_t count, float* target);

  void (*depthwise)(const DepthwiseSpan& call);
};

/// For each instruction set, see inner_loops.hpp.
extern const GemmMicroKernels kPortableGemmMicroKernels;
extern const GemmMicroKernels kAvx2GemmMicroKernels;
extern const GemmMicroKernels kAvx512GemmMicroKernels;

}  // namespace poprt::kernels
