#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/quantized/integer_rows.hpp"

/// Sums of products of bytes, the inner loop of all products and convolutions of 8-bit integers.
/// This header is included by files that are compiled for more than the baseline processor: it must
/// stay free of inline functions.
namespace poprt::kernels {

/// Four bytes, the first lowest, which are multiplied with four others and summed.
using Quad = std::uint32_t;

/// What keeps tiles busy: rows of factors, and lanes in panels of values. Lanes come in vectors.
inline constexpr std::int64_t kQuadRows = 6;
/// Of any processor, see ByteMicroKernels::rows and ByteMicroKernels::outs.
inline constexpr std::int64_t kMostQuadRows = 128;
inline constexpr std::int64_t kMostByteOuts = 16;
inline constexpr std::int64_t kQuadLanes = 48;
inline constexpr std::int64_t kQuadVector = 16;

/// How sums become bytes: y = sum * factor + point in double precision, clipped to 0 to 255 and
/// rounded to nearest even. NaN becomes 0.
struct ByteEpilogue {
  const std::int32_t* bases;  ///< of the channels of a block, which sums start from
  const float* factors;       ///< of the channels of a block, times kByteUnit
  std::int32_t point;         ///< 0 to 255
};

/// Results in floats as integers of so many to one are one off at most where they are not clipped.
/// Where one, plus a half and one more, is so near a multiple that only kNearTie of its lower bits
/// are set, doubles decide.
inline constexpr int kByteUnitBits = 13;
inline constexpr std::int32_t kByteUnit = 1 << kByteUnitBits;
inline constexpr std::int32_t kNearTie = 3;
/// Beyond all results that are not clipped, far from a tie; as a result, a signed integer of 16
/// bits.
inline constexpr float kClipped = 0x1p27F - 4096;

/// The sum of two bytes as left * of_left + right * of_right + base in units of which kByteUnit are
/// one. It is less than kMostOff units off of what is computed in more steps.
struct LinearSum {
  static constexpr std::int32_t kMostOff = 4;
  /// Is added to round to nearest; none of the tested bits of what is near a tie is set then.
  static constexpr std::int32_t kMoved = kByteUnit / 2 + kMostOff;
  static constexpr std::int32_t kTested = kByteUnit - 2 * kMostOff;
  float of_left;
  float of_right;
  float base;
};

/// What tiles of pixels share: output blocks of 16 channels of a convolution of an image of bytes
/// in blocks of channels, see byte_conv2d.hpp.
struct BytePanel {
  const std::uint8_t* x;        ///< first input block
  std::int64_t x_stride;        ///< from one input block to the next
  std::int64_t blocks;          ///< input blocks
  std::int64_t last_quads;      ///< quads of channels in the last of them
  const std::uint8_t* padding;  ///< the 16 channels of a pixel outside
  const Quad* weights;          ///< [blocks][taps][4][16]
  const Quad* ahead;            ///< those that are needed next, or null; never accessed
  std::int64_t taps;            ///< of the filter
  bool is_run;                  ///< there is one, and it meets the pixels of a tile side by side
  std::int64_t outs;            ///< output blocks, up to ByteMicroKernels::outs
  std::int64_t weights_stride;  ///< from one output block to the next, as y_stride
  ByteEpilogue epilogue;        ///< of the first output block; the next lie behind
  std::uint8_t* y;              ///< first pixel of the first tile
  std::int64_t y_stride;
};

/// Pixels of a row of a convolution of few planes, whose padding is there.
struct BytePlanesRow {
  const Quad* x;                    ///< the window of the first pixel
  std::int64_t pixel_quads;         ///< from it to that of the next
  const std::int32_t* tap_offsets;  ///< in quads, from the start of a window
  std::int64_t taps;
  const Quad* weights;    ///< [outs][taps][16]
  std::int64_t outs;      ///< output blocks, up to ByteMicroKernels::planes_outs
  ByteEpilogue epilogue;  ///< of the first output block; the next lie behind
  std::uint8_t* y;
  std::int64_t y_stride;  ///< from one output block to the next
  std::int64_t pixels;
};

/// Pixels of a row of a depthwise convolution of one block, whose padding is there.
struct ByteDepthwiseRow {
  const std::uint8_t* x;     ///< 16 bytes of each pixel; up to 48 more than are needed are read
  std::int64_t row_bytes;    ///< from one row of the window to the next
  std::int64_t pixel_bytes;  ///< from the window of one pixel to that of the next
  std::int64_t rows;         ///< of the window
  std::int64_t columns;      ///< of the window; every four are a segment
  const Quad* weights;       ///< [rows][segments][16]
  ByteEpilogue epilogue;
  std::uint8_t* y;
  std::int64_t pixels;
};

struct ByteMicroKernels {
  const char* name;
  std::int64_t pixels;  ///< of the largest tile that `convolve` has registers for
  std::int64_t outs;    ///< the same of output blocks
  /// Those without a matrix unit, for sums that are too short for it; null where there is none.
  /// Tiles of `convolve` on it need all taps, even those that meet nothing but padding.
  const ByteMicroKernels* without_unit;
  std::int64_t rows;  ///< that keep `multiply` busy: kQuadRows or kMostQuadRows
  /// out[r * pitch + lane] = sum over t in [0, count) and the bytes i of quads of
  /// values[offsets[t] + lane][i] * factors[r * count + t][i], modulo 2^32. Values are unsigned,
  /// factors signed. lanes is a multiple of kQuadVector.
  void (*multiply)(std::int64_t rows, std::int64_t lanes, const Quad* values,
                   const std::int64_t* offsets, const Quad* factors, std::int64_t count,
                   std::int32_t* out, std::int64_t pitch);
  /// to[i] = the bytes i of four rows, the first lowest, with each moved: combined with `move` by
  /// exclusive or; for i in [0, n).
  void (*interleave)(const std::uint8_t* const* rows, std::int64_t n, Quad move, Quad* to);
  /// All tiles of a panel, one after the other. Bytes of the image are unsigned, weights signed.
  void (*convolve)(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                   const TileTap* taps);
  std::int64_t planes_outs;  ///< output blocks that `convolve_planes` has registers for
  void (*convolve_planes)(const BytePlanesRow& row);
  void (*depthwise)(const ByteDepthwiseRow& row);
  /// Adds bytes, results clipped, until those that come next are fewer than pass at once, or one of
  /// them is so near a tie that more precision must decide. Returns how many it added. Null where
  /// there is nothing faster than all steps. Results may be written over operands.
  std::int64_t (*add)(const LinearSum& sum, const std::uint8_t* left, const std::uint8_t* right,
                      std::int64_t count, std::uint8_t* to);
  const IntegerRowKernels* integer_rows;       ///< for weights of 4 and 8 bits
  const IntegerRowKernels* wide_integer_rows;  ///< for those of 16
};

extern const ByteMicroKernels kPortableByteMicroKernels;
extern const ByteMicroKernels kAvx2ByteMicroKernels;
extern const ByteMicroKernels kAvx2VnniByteMicroKernels;
extern const ByteMicroKernels kAvx512ByteMicroKernels;
extern const ByteMicroKernels kAvx512VnniByteMicroKernels;
/// With products on the matrix unit.
ByteMicroKernels Avx512VnniWithAmx();
/// ByteMicroKernels::convolve on the matrix unit.
void ConvolveOnUnit(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                    const TileTap* taps);

}  // namespace poprt::kernels
