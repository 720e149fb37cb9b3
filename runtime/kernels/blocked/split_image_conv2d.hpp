#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/window/padded_rows.hpp"

namespace poprt::kernels {

/// A convolution of an image of planes with one group, or of one in blocks of channels. The result
/// is in blocks.
struct SplitImageShape {
  std::int64_t planes = 0;              ///< of an image of planes
  std::int64_t in_blocks = 0;           ///< of a group of an image in blocks, else 0
  std::int64_t last_channels = kBlock;  ///< of the last one of them
  std::int64_t group = 1;
  BlockedImage out;
  PaddedRows rows;
  /// [out block][plane][tap][16], or [out block][in block][tap][16 channels][16]; float16 or
  /// float32.
  bool half_weights = false;
  /// Output rows of a task, at least.
  std::int64_t rows_of_task = 1;

  bool IsInBlocks() const { return in_blocks > 0; }
  /// Images times groups.
  std::int64_t Images() const { return out.batch * group; }
  std::int64_t OutBlocks() const { return out.blocks / group; }
};

/// Convolution on the matrix unit of an image that is split into parts where it lies, once for all
/// taps. The numbers of a pixel, of few planes or of a block of channels, lie side by side, so that
/// those that a row of the filter meets do, too, and are a row of A where they lie: rows of a tile,
/// 16 output pixels side by side, overlap. A step of the depth is a row of the filter or, if that
/// has more than 32 numbers, an equal part of it.
class SplitImageConv2d {
 public:
  /// Null where `loops` have no matrix unit, it is not faster, or columns of the filter do not lie
  /// side by side.
  static std::optional<SplitImageConv2d> Plan(const InnerLoops& loops, const SplitImageShape& shape,
                                              const BlockedEpilogue& epilogue);

  /// Of a worker, in bytes.
  std::size_t scratch_bytes() const;

  /// Output pixels [first, last) of a row of an image.
  struct Pixels {
    std::int64_t image;
    std::int64_t row;
    std::int64_t first;
    std::int64_t last;
  };
  /// compute(pixels, block, worker) has to compute what is not finite, of a block of the result,
  /// without the unit, which is at work. A worker's scratch memory of this begins at `offset` of
  /// its `stride` bytes.
  using Compute = std::function<void(const Pixels&, std::int64_t block, int worker)>;
  void Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
           const Compute& compute) const;

 private:
  SplitImageConv2d(const InnerLoops& loops, const SplitImageShape& shape,
                   const BlockedEpilogue& epilogue);

  class Task;

  void FindSteps();
  void FindPanelRows();

  EvenSplit BlocksOfTask(int workers) const;
  std::int64_t Strips() const { return shape_.Images() * strips_.blocks(); }

  /// Estimates in processor cycles of an image so and otherwise: without the unit or, of blocks, as
  /// SplitConv2d.
  double UnitCycles() const;
  double OtherCycles() const;

  /// In the panel whose steps meet the numbers of a row of A, the even ones in its first group.
  std::int32_t PanelRowOf(std::int64_t sheet, std::int64_t place, std::int64_t tap) const;
  std::int64_t Taps() const { return shape_.rows.window.kernel[0] * shape_.rows.window.kernel[1]; }
  std::int64_t Steps() const { return static_cast<std::int64_t>(step_offsets_.size()); }
  /// Pixels of a row of the image that are written at its place.
  std::int64_t Written() const;
  /// All planes are one sheet, blocks one each.
  std::int64_t Sheets() const { return shape_.IsInBlocks() ? shape_.in_blocks : 1; }
  std::int64_t NumbersOfSheet() const {
    return shape_.rows.Count(strips_.largest()) * row_numbers_;
  }
  std::int64_t NumbersOfPart() const { return Sheets() * NumbersOfSheet(); }

  const MatrixUnit* unit_;
  const ConvMicroKernels* kernels_;
  const GemmMicroKernels* gemm_;
  SplitImageShape shape_;
  BlockedEpilogue epilogue_;
  std::int64_t places_;             ///< of numbers of a pixel
  std::int64_t pixels_at_once_;     ///< that are written of an image
  std::int64_t parts_of_row_ = 0;   ///< steps that a row of the filter is cut into
  std::int64_t pairs_of_step_ = 0;  ///< of numbers
  std::int64_t row_numbers_ = 0;    ///< of a row of the image, with padding
  EvenSplit strips_;                ///< of output rows
  std::vector<std::int32_t> step_offsets_;
  std::vector<std::int32_t> panel_rows_;  ///< where the weights of an output block go
};

}  // namespace poprt::kernels
