#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"

/// Products of rows of float32 with weights that are stored as integers, in integers: for each span
/// of the depth a row is multiples, of 15 or 16 bits, of a power of two. Sums of a span are exact.
/// This header is included by files that are compiled for more than the baseline processor: it must
/// stay free of inline functions.
namespace poprt::kernels {

/// Rows of the depth whose activations share a power of two, at most; sums of so many products of
/// 16 by 8 bits have 30 bits.
inline constexpr std::int64_t kSpan = 128;
/// What has two signed digits of 8 bits.
inline constexpr std::int32_t kMostMultiple = 127 * 256 + 127;
/// Rows of a block of weights of 16 bits, at most; the largest sum of their magnitudes in a column,
/// and the largest multiple they meet: sums of such products have 31 bits.
inline constexpr std::int64_t kWideBlock = 64;
inline constexpr std::int32_t kMostWideSum = 1 << 17;
inline constexpr std::int32_t kMostWideMultiple = (1 << 14) - 1;
/// The largest multiple of a row in parts, which meets weights of 16 bits whatever their sum is: a
/// block's products sum up to 31 bits. The upper part is of a power of two so many times the
/// lower's.
inline constexpr std::int32_t kMostOfPart = 1 << 10;
static_assert(kWideBlock * 0x7FFF * kMostOfPart <= 0x7FFFFFFF);
inline constexpr float kPartRatio = 0x1p11F;
/// Part of a result that rounding what weights of 16 bits multiply may usually change.
inline constexpr float kMostLeft = 0x1p-11F;
/// Of weights that are stored above zero: what is to be subtracted. Those of 16 bits have signs.
inline constexpr std::int32_t kExcessOf4Bits = 8;
inline constexpr std::int32_t kExcessOf8Bits = 128;

/// How weights lie along the depth. Every `block` rows, and those that are left, begin a span and
/// share scales.
struct IntegerDepth {
  std::int64_t depth;
  std::int64_t block;
  std::int64_t bits;  ///< 4, 8 or 16
};

/// Rows as multiples of at most kMostMultiple, or kMostWideMultiple.
struct IntegerRows {
  std::uint32_t* words;  ///< [rows][words_stride], half as many as multiples, in the kernels' order
  std::int64_t words_stride;
  float* scales;        ///< [rows][spans], powers of two
  std::int32_t* bases;  ///< [rows][spans], minus the excess times the sum of the multiples
  std::int64_t spans;
};

inline constexpr std::int64_t kMostIntegerRows = 12;

/// Adding it to a float32 rounds that to an integer, whose bits the sum has above kRoundBits.
inline constexpr float kRound = 0x1.8p23F;
inline constexpr std::int32_t kRoundBits = 0x4B400000;

/// Panels of 16 columns as PackIntegers stores them.
struct IntegerPanels {
  const std::byte* first;
  std::int64_t stride = 0;  ///< bytes from one panel to the next
  int count = 1;
};

struct IntegerRowKernels {
  /// Rows and panels that may be multiplied at once, up to kMostIntegerRows and kTilePanels. Each
  /// result is the same either way.
  int rows;
  int panels;
  int panels_of_few_rows;  ///< of one row, of weights of 16 bits also two, up to kMostTilePanels
  /// Makes the first row of `to` of x. The scales of a span with infinities or NaN are NaN.
  void (*scale_row)(const float* x, const IntegerDepth& depth, const IntegerRows& to);
  /// For weights of 16 bits of any sum, makes the first two rows of `to` of x, whose sum is off by
  /// 2^-21 of the largest number of a span at most. False where x has numbers of 2^100 or more or
  /// that are not finite.
  bool (*scale_row_in_parts)(const float* x, const IntegerDepth& depth, const IntegerRows& to);
  /// Whether scale_row, for weights of 16 bits, leaves more than kMostLeft of x when each number
  /// counts by the power of the weights that it meets. Then left = what it leaves.
  bool (*leave_row)(const float* x, const IntegerDepth& depth, const IntegerRows& of,
                    const float* powers, float* left);
  /// tiles[p] = A * B[p]: for every span (sum * scale of the row) * scale of the
  /// column is added.
  void (*multiply)(int rows, const IntegerRows& a, const IntegerPanels& b,
                   const IntegerDepth& depth, const Tiles& tiles);
};

/// For each kind of processor, see best_byte_micro_kernels.hpp; for weights of 4 and 8 bits, and
/// for those of 16.
extern const IntegerRowKernels kPortableIntegerRows;
extern const IntegerRowKernels kPortableWideIntegerRows;
extern const IntegerRowKernels kAvx2IntegerRows;
extern const IntegerRowKernels kAvx2WideIntegerRows;
extern const IntegerRowKernels kAvx512IntegerRows;
extern const IntegerRowKernels kAvx512WideIntegerRows;
extern const IntegerRowKernels kAvx512VnniIntegerRows;
extern const IntegerRowKernels kAvx512VnniWideIntegerRows;

}  // namespace poprt::kernels
