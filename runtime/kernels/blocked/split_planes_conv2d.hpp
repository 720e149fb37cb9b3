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

/// A convolution of an image of planes with one group; the result is in blocks of channels.
struct SplitPlanesShape {
  std::int64_t planes = 0;  ///< of the image
  BlockedImage out;
  PaddedRows rows;
  bool half_weights = false;  ///< [block][plane][tap][16], float16 or float32
  /// Output rows of a task, at least.
  std::int64_t rows_of_task = 1;
};

/// Convolution of an image of few planes on the matrix unit. The planes' numbers of a pixel lie
/// side by side, so that those that a row of the filter meets do, too, and are a row of A where
/// they lie: rows of a tile, 16 output pixels side by side, overlap. A step of the depth is a row
/// of the filter or, if that has more than 32 numbers, an equal part of it.
class SplitPlanesConv2d {
 public:
  /// Null where `loops` have no matrix unit, it is not faster, or columns of the filter do not lie
  /// side by side.
  static std::optional<SplitPlanesConv2d> Plan(const InnerLoops& loops,
                                               const SplitPlanesShape& shape,
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
  /// compute(pixels, block, worker) has to compute what is not finite, of an output block, without
  /// the unit, which is at work. A worker's scratch memory of this begins at `offset` of its
  /// `stride` bytes.
  using Compute = std::function<void(const Pixels&, std::int64_t block, int worker)>;
  void Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
           const Compute& compute) const;

 private:
  SplitPlanesConv2d(const InnerLoops& loops, const SplitPlanesShape& shape,
                    const BlockedEpilogue& epilogue);

  class Task;

  EvenSplit BlocksOfTask(int workers) const;

  /// Estimates in processor cycles of an image on the unit and without.
  double UnitCycles() const;
  double OrdinaryCycles() const;

  /// In the panel whose steps meet the numbers of a row of A, the even ones in its first group.
  std::int32_t PanelRowOf(std::int64_t plane, std::int64_t tap) const;
  std::int64_t Taps() const { return shape_.rows.window.kernel[0] * shape_.rows.window.kernel[1]; }
  std::int64_t Steps() const { return static_cast<std::int64_t>(step_offsets_.size()); }
  std::int64_t NumbersOfPart() const { return shape_.rows.Count(strips_.largest()) * row_numbers_; }

  const MatrixUnit* unit_;
  const ConvMicroKernels* kernels_;
  const GemmMicroKernels* gemm_;
  SplitPlanesShape shape_;
  BlockedEpilogue epilogue_;
  std::int64_t places_;             ///< of numbers of a pixel
  std::int64_t parts_of_row_ = 0;   ///< steps that a row of the filter is cut into
  std::int64_t pairs_of_step_ = 0;  ///< of numbers
  std::int64_t row_numbers_ = 0;    ///< of a row of the image, with padding
  EvenSplit strips_;                ///< of output rows
  std::vector<std::int32_t> step_offsets_;
  std::vector<std::int32_t> panel_rows_;  ///< where weights [plane][tap] go
};

}  // namespace poprt::kernels
