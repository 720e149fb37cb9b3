#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// Weights that were quantised, as the integers that they are multiples of a scale by, and weights
/// that were rounded to few bits as integers of 16. The order is part of the container format, as
/// that of pack.hpp.
namespace poprt::kernels {

/// A scale for each column of W [depth, n] of float32, or its transpose, of which all elements of
/// the column are multiples by -128 to 127, rounded to float32, by as small numbers as there are;
/// none where there are no such scales. So are weights that were quantised.
std::optional<std::vector<float>> ByteScales(const Tensor& w, bool transposed);

/// Of the weights that are not quantised.
inline constexpr std::int64_t kWideBits = 16;

/// How a matrix is stored as integers.
struct IntegerForm {
  std::int64_t bits = 8;   ///< of a number, 4, 8 or 16
  std::int64_t block = 0;  ///< rows of a column that share a scale; fewer may be left for the last
  bool operator==(const IntegerForm&) const = default;
};

/// The form of 4 or 8 bits and fewest scales that loses nothing of W [depth, n], or its transpose;
/// else 16 bits where W was rounded to float16 or bfloat16, at least to 11 significant bits: what
/// that form loses is usually less than the rounding did, and never more than 2^-7 of a row or
/// 2^-11 of all on average. Nothing for other weights, those that are no finite numbers and those
/// of so few different magnitudes that they were hardly rounded.
std::optional<IntegerForm> IntegerFormOf(const Tensor& w, bool transposed);

/// Rows in a group of 64 bytes of 16 columns.
inline std::int64_t RowsOfGroup(std::int64_t bits) { return 32 / bits; }

/// Bytes of the lines that packed integers consist of.
inline constexpr std::int64_t kIntegerLine = 64;

/// Lines of the powers of all rows of weights of 16 bits, which are first: the mean square of a
/// row's weights as a part of the largest, in float32. 0 for 4 and 8 bits.
std::int64_t PowerLines(std::int64_t depth, const IntegerForm& form);

/// Lines of each panel of 16 columns.
std::int64_t PanelLines(std::int64_t depth, const IntegerForm& form);

/// Type of packed integers, uint8 [lines, 64]: powers, then panels of 16 columns, of which each
/// block begins with a line of 16 scales of float32 and goes on with groups, a word of 32 bits for
/// each column with its next eight rows of 4 bits or four of 8, the first the lowest, each plus 8
/// or 128; or its next two of 16 bits, with signs. Throws KernelError unless
/// depth and n are at least 1, bits 4, 8 or 16 and the block is from 1 to the depth, a multiple of
/// 8 where it is a part of it, and at most kWideBlock for 16 bits.
TensorType PackedIntegersType(std::int64_t depth, std::int64_t n, const IntegerForm& form);

/// Packs W [depth, n] of float32 or float16, or its transpose. Of 16 bits are multiples of the
/// least power of two by which the magnitudes in a block sum up to at most kMostWideSum; others
/// throw KernelError where W has not that form.
Tensor PackIntegers(const Tensor& w, bool transposed, const IntegerForm& form);

}  // namespace poprt::kernels
