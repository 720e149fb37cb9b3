#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/quantized/integer_rows.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"

namespace poprt::kernels {

/// Sizes of IntegerRows in memory, and where they begin in it.
struct IntegerRowsLayout {
  IntegerRowsLayout(std::int64_t row_count, const IntegerDepth& depth)
      : rows(row_count),
        words(OddLines(OfBlocks(depth,
                                [&](std::int64_t count) {
                                  // Two multiples each, of whole groups.
                                  const std::int64_t of_group = RowsOfGroup(depth.bits);
                                  return (count + of_group - 1) / of_group * of_group / 2;
                                }))),
        spans(OfBlocks(depth, [](std::int64_t count) { return (count + kSpan - 1) / kSpan; })) {}

  /// At least so many words: rows that are an odd number of cache lines apart share none of the
  /// first-level cache's sets.
  static std::int64_t OddLines(std::int64_t words) {
    constexpr std::int64_t kLine = 16;
    return ((words + kLine - 1) / kLine | 1) * kLine;
  }

  /// The sum over all blocks of what `of` gives for their rows.
  template <typename Of>
  static std::int64_t OfBlocks(const IntegerDepth& depth, Of of) {
    return depth.depth / depth.block * of(depth.block) + of(depth.depth % depth.block);
  }

  /// Of 32 bits.
  std::int64_t Elements() const { return rows * (words + 2 * spans); }

  /// Row `row` and those behind it.
  IntegerRows At(std::byte* memory, std::int64_t row) const {
    auto* const elements = reinterpret_cast<std::uint32_t*>(memory);
    return {
        .words = elements + row * words,
        .words_stride = words,
        .scales = reinterpret_cast<float*>(elements + rows * words) + row * spans,
        .bases = reinterpret_cast<std::int32_t*>(elements + rows * (words + spans)) + row * spans,
        .spans = spans};
  }

  std::int64_t rows;
  std::int64_t words;
  std::int64_t spans;
};

}  // namespace poprt::kernels
