#pragma once

#include <cstdint>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/tensor/tensor.hpp"

/// Filters that were transformed in 24 bits: the upper ones of float32, 16 of them significant, so
/// that a normal number is off by 2^-16 of it at most. They are widened before they are multiplied
/// by, or split for a matrix unit. Part of the container format, as pack.hpp.
///
/// Four rows of a panel, [depth][16], are three lines of 16 words of 32 bits, the last ones with
/// zeros behind the depth. Word c of line 0 has the 24 bits of row 0 and column c and, in its
/// lowest eight, the last ones of row 2; line 1 those of rows 1 and 3; line 2 the upper 16 bits of
/// rows 2 and 3. A processor without more than shifts and selections of halves is fastest so.
namespace poprt::kernels {

/// Rows, and lines, of a group.
inline constexpr std::int64_t kShortRows = 4;
inline constexpr std::int64_t kShortLines = 3;

/// Rows of the groups that cover `depth` rows.
constexpr std::int64_t WholeShortRows(std::int64_t depth) {
  return CeilDiv(depth, kShortRows) * kShortRows;
}

/// Lines of a panel.
constexpr std::int64_t ShortLines(std::int64_t depth) {
  return CeilDiv(depth, kShortRows) * kShortLines;
}

/// Whether numbers of float32 can be shortened: they are finite and less than 2^127.
bool CanBeShort(const Tensor& weights);

/// Type of panels of that type, float32 [panels..., depth, 16], when they are shortened: uint32
/// [panels..., lines, 16]. Throws KernelError for others.
TensorType ShortPanelsType(const TensorType& panels);

/// Shortens panels of numbers that can be short, rounding to the nearest.
Tensor ShortenPanels(const Tensor& panels);

}  // namespace poprt::kernels
