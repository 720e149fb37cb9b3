#pragma once

#include <cstdint>

/// Sums of products of bytes, the inner loop of all products and convolutions of 8-bit integers.
/// This header is included by files that are compiled for more than the baseline processor: it must
/// stay free of inline functions.
namespace poprt::kernels {

/// Four bytes, the first lowest, which are multiplied with four others and summed.
using Quad = std::uint32_t;

/// What keeps tiles busy: rows of factors, and lanes in panels of values. Lanes come in vectors.
inline constexpr std::int64_t kQuadRows = 6;
inline constexpr std::int64_t kQuadLanes = 48;
inline constexpr std::int64_t kQuadVector = 16;

struct QuadTiles {
  const char* name;
  /// out[r * pitch + lane] = sum over t in [0, count) and the bytes i of quads of
  /// values[offsets[t] + lane][i] * factors[r * count + t][i], modulo 2^32. Values are unsigned,
  /// factors signed. lanes is a multiple of kQuadVector.
  void (*multiply)(std::int64_t rows, std::int64_t lanes, const Quad* values,
                   const std::int64_t* offsets, const Quad* factors, std::int64_t count,
                   std::int32_t* out, std::int64_t pitch);
  /// to[i] = the bytes i of four rows, the first lowest, with each moved: combined with `move` by
  /// exclusive or; for i in [0, n).
  void (*interleave)(const std::uint8_t* const* rows, std::int64_t n, Quad move, Quad* to);
};

extern const QuadTiles kPortableQuadTiles;
extern const QuadTiles kAvx2QuadTiles;
extern const QuadTiles kAvx2VnniQuadTiles;
extern const QuadTiles kAvx512QuadTiles;
extern const QuadTiles kAvx512VnniQuadTiles;

}  // namespace poprt::kernels
