#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/tensor/tensor.hpp"

/// Weights of products as integers of 16 bits, with a scale for every 64 rows of a column. Few
/// rows are multiplied by the integers as they come from the caches (rows_in_parts.hpp); for more
/// they are widened first, or split for a matrix unit. Of normally distributed weights rounding
/// takes 2.3e-5. Part of the container format, as pack.hpp.
///
/// Each block of a panel is a line of 16 scales, of float32, and a line of 16 words for every two
/// of its rows: word c has column c of the first in its lower half and of the second, or zero
/// behind the depth, in its upper half.
namespace poprt::kernels {

/// Rows of a line.
inline constexpr std::int64_t kScaledRows = 2;

/// Lines of a panel; those before row `depth` where that begins a block.
constexpr std::int64_t ScaledLines(std::int64_t depth) {
  return CeilDiv(depth, kScaledRows) + CeilDiv(depth, kScaledBlock);
}

/// Type of panels of that type, float32 [panels..., depth, 16], when they are scaled: int32
/// [panels..., lines, 16]. Throws KernelError for others.
TensorType ScaledPanelsType(const TensorType& panels);

/// What rounding takes of the rows of a matrix, whose panels are scaled by several threads. Rows
/// that are smaller than those beside them lose more, which matters where what they are multiplied
/// by is larger, as features that a first layer standardises.
class RowLosses {
 public:
  RowLosses(std::int64_t panels, std::int64_t depth);

  /// Sums of squares of a row of a panel, and of what it loses.
  struct Loss {
    float all;
    float lost;
  };
  Loss* Of(std::int64_t panel) { return losses_.data() + panel * depth_; }

  /// Whether rows lose at most 2^-13 of themselves, in the root of the mean of squares; those whose
  /// squares sum up to 2^-100 at most, as of zeros, do not count.
  bool AreSmall() const;

 private:
  std::int64_t depth_;
  std::vector<Loss> losses_;  ///< [panel][row]
};

/// Scales a panel, [depth][16], to ScaledLines(depth) lines, by a power of two where that loses
/// nothing of a column's block, as of whole numbers up to 32767, and tells what its rows lose.
/// False, with lines of any value, where rounding takes more than 2^-14 of a column, as where some
/// of its numbers are far larger than those beside them, or where numbers are above 2^60 or not
/// finite.
bool ScalePanel(const float* panel, std::int64_t depth, std::int32_t* lines,
                RowLosses::Loss* losses);

/// Scales panels, [matrices..., panels, depth, 16]; nothing where one cannot be, or rows of a
/// matrix lose too much.
std::optional<Tensor> ScalePanels(const Tensor& panels);

}  // namespace poprt::kernels
