#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"

/// The inner loops of the kernels on blocked images, once for every kind of processor. This header
/// is included by files that are compiled for more than the baseline processor: it must stay free
/// of inline functions, which the linker might take from there.
namespace poprt::kernels {

/// Channels of a block: they are the innermost axis of a blocked image.
inline constexpr std::int64_t kBlock = kPanel;
/// Pixels of the register tiles that work is cut by, which every processor has registers for.
inline constexpr std::int64_t kTilePixels = kTileRows;
/// Pixels of the largest register tile of any processor, see ConvMicroKernels::pixels.
inline constexpr std::int64_t kMostTilePixels = kMostTileRows;
/// Stands for the offset of a pixel of padding.
inline constexpr std::int32_t kPadding = -1;

/// Where the pixels of a tile find their inputs for one tap of the filter.
struct TileTap {
  std::int32_t weights;  ///< of this tap, from the first tap of the same input block
  std::int32_t inputs[kMostTilePixels];  ///< from the first pixel of an input block, or kPadding
};

/// Consecutive output pixels, up to ConvMicroKernels::pixels, and the taps that meet the image in
/// one of them at least.
struct ConvTile {
  std::int32_t pixels;
  std::int32_t taps;
};

/// What happens to sums: y = activation(clamp(sum + residual)).
struct TileEpilogue {
  const float* residual = nullptr;  ///< laid out as the results, or null
  float low = -__builtin_inff();
  float high = __builtin_inff();
  const Epilogue* activation = nullptr;  ///< null where clamping is all
};

/// The output blocks of a pass over the pixels, whose weights and results lie equally far from each
/// other. Distances are counted in floats.
struct OutputBlocks {
  int count = 1;              ///< 1 to ConvMicroKernels::outs
  std::int64_t weights = 0;   ///< from those of one block to those of the next
  std::int64_t y = 0;         ///< the same for results and residuals
  bool last_is_half = false;  ///< the last block has up to eight channels, zeros behind them
};

/// One panel of weights, 16 output channels by some input blocks, which passes over many tiles, or
/// two side by side. All strides are counted in floats.
struct ConvPanel {
  const float* x = nullptr;         ///< first input block
  std::int64_t x_stride = 0;        ///< from one input block to the next
  std::int64_t blocks = 0;          ///< input blocks
  std::int64_t last_channels = 0;   ///< of the last block that are not spare
  const void* weights = nullptr;    ///< [input block][tap][16 inputs][16 outputs]
  std::int64_t weights_stride = 0;  ///< from one input block to the next
  const float* start = nullptr;     ///< what the sums start from: the bias or earlier sums
  std::int64_t start_step = 0;      ///< from one pixel to the next: 0 or 16
  std::int64_t start_block = 0;     ///< from one output block to the next
  TileEpilogue epilogue;
  float* y = nullptr;           ///< the output pixels of the tiles, in order
  const void* ahead = nullptr;  ///< weights that are needed next; never accessed
  OutputBlocks outputs;
};

/// Products of a filter with planes. The sums of output pixel r start from the bias; tap k adds
/// x[pixel offset r + tap_offsets[k]] times weights [k][16].
struct PlanesPanel {
  const float* x = nullptr;
  const std::int32_t* tap_offsets = nullptr;
  std::int64_t taps = 0;
  const void* weights = nullptr;
  const float* bias = nullptr;  ///< of all output blocks
  TileEpilogue epilogue;
  float* y = nullptr;
  OutputBlocks outputs;
};

/// Products of the channels of a group with those of its output channels that lie in one block, at
/// pixels side by side; or in whole blocks. Offsets are counted in floats.
struct PointwisePanel {
  const float* x = nullptr;                       ///< first pixel
  const std::int32_t* channel_offsets = nullptr;  ///< from x to each input channel of the group
  bool in_fours = false;  ///< each four of the offsets from the first on follow each other
  std::int64_t channels = 0;
  const void* weights = nullptr;  ///< [channel][16]
  const float* bias = nullptr;    ///< of all output blocks
  std::int64_t first_lane = 0;    ///< of the only block; those before it keep what they hold
  std::int64_t last_lane = 0;  ///< of the last block, one past; those behind it may get any value
  TileEpilogue epilogue;
  float* y = nullptr;
  const void* ahead = nullptr;  ///< weights that are needed next, as many; never accessed
  OutputBlocks outputs;
};

/// Output pixels whose windows cover the same `rows` x `columns` taps of a filter inside the image:
/// `lines` lines of `pixels` pixels, along rows or columns of the image. x points to what the first
/// covered tap meets at the first pixel, y to the first pixel's result.
struct WindowArea {
  const float* x = nullptr;
  float* y = nullptr;
  bool lines_are_columns = false;  ///< of the image
  std::int64_t lines = 0;
  std::int64_t pixels = 0;
  std::int64_t x_line = 0;  ///< from one line to the next
  std::int64_t y_line = 0;
  std::int64_t x_pixel = 0;  ///< from one pixel to the next
  std::int64_t y_pixel = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t x_row = 0;  ///< from one row of the filter to the next
  std::int64_t x_column = 0;
};

/// A depthwise filter over an area.
struct DepthwiseArea {
  WindowArea window;
  const void* weights = nullptr;  ///< of the first covered tap: [tap][16]
  std::int64_t weights_row = 0;   ///< floats from one row of the filter to the next
  const float* bias = nullptr;    ///< 16
  TileEpilogue epilogue;
};

/// Rows of a depthwise filter that computes lines, at most.
inline constexpr std::int64_t kMostLineRows = 7;

/// A line of output pixels of a depthwise filter whose taps of a row lie side by side. Less than
/// half of a window may lie outside the image on the left, and on the right.
struct DepthwiseLine {
  const float* rows[kMostLineRows] = {};  ///< of the image, from its first column on; null: padding
  std::int64_t row_count = 0;
  std::int64_t taps = 0;          ///< of a row: 3, 5 or 7
  std::int64_t stride = 1;        ///< 1 or, for 3 or 5 taps, 2
  std::int64_t left_padding = 0;  ///< columns, at most taps / 2, as there may be on the right
  std::int64_t columns = 0;       ///< of the image
  std::int64_t pixels = 0;
  const void* weights = nullptr;  ///< [row][tap][16]
  const float* bias = nullptr;    ///< 16
  TileEpilogue epilogue;
  float* y = nullptr;
};

struct ConvMicroKernels {
  /// Output blocks that a pass over the pixels computes at once: 2 where the registers are wide
  /// enough, else 1. Each result is the same either way.
  int outs;
  /// Output pixels that are computed at once, at most: as GemmMicroKernels::rows.
  int pixels;

  /// y = epilogue(start + weights * x) for every tile; `taps` holds those of all tiles.
  void (*conv_f32)(const ConvPanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                   const TileTap* taps);
  /// The same with float16 weights.
  void (*conv_f16)(const ConvPanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                   const TileTap* taps);

  /// y = epilogue(sums) for `pixels` pixels of a block, which lie side by side in both.
  void (*finish)(const TileEpilogue& epilogue, const float* sums, std::int64_t pixels, float* y);

  /// y = epilogue(bias + weights * x) for `pixels` pixels with these offsets.
  void (*planes_f32)(const PlanesPanel& panel, const std::int32_t* offsets, std::int64_t pixels);
  void (*planes_f16)(const PlanesPanel& panel, const std::int32_t* offsets, std::int64_t pixels);

  /// y = epilogue(bias + weights * x) for the lanes of one group.
  void (*pointwise_f32)(const PointwisePanel& panel, std::int64_t pixels);
  void (*pointwise_f16)(const PointwisePanel& panel, std::int64_t pixels);

  /// y = epilogue(bias + weights * x), channel by channel.
  void (*depthwise_f32)(const DepthwiseArea& area);
  void (*depthwise_f16)(const DepthwiseArea& area);
  /// The same for a line.
  void (*depthwise_line_f32)(const DepthwiseLine& line);
  void (*depthwise_line_f16)(const DepthwiseLine& line);

  /// Maximum over the covered taps, none of which is NaN; minus infinity without taps.
  void (*maximum)(const WindowArea& area);
  /// The same, NaN if one of them is.
  void (*maximum_or_nan)(const WindowArea& area);
  /// Whether any of `count` numbers is NaN.
  bool (*holds_nan)(const float* x, std::int64_t count);
  /// Sum over the covered taps times `factor`.
  void (*average)(const WindowArea& area, float factor);
  /// moments[c] = mean of the `pixels` >= 1 numbers of lane c, moments[16 + c] = sum of the squares
  /// of their distances from it.
  void (*moments)(const float* x, std::int64_t pixels, float* moments);

  /// y[pixel][c] = x[c * plane + pixel] for c < channels <= 16, 0 for the others.
  void (*block)(const float* x, std::int64_t plane, std::int64_t channels, std::int64_t pixels,
                float* y);
  /// y[c * plane + pixel] = x[pixel][c] for c < channels <= 16.
  void (*unblock)(const float* x, std::int64_t plane, std::int64_t channels, std::int64_t pixels,
                  float* y);
};

/// For each instruction set, see inner_loops.hpp.
extern const ConvMicroKernels kPortableConvMicroKernels;
extern const ConvMicroKernels kAvx2ConvMicroKernels;
extern const ConvMicroKernels kAvx512ConvMicroKernels;

}  // namespace poprt::kernels
