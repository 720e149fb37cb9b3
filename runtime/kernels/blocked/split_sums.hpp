#pragma once

#include <array>
#include <cstdint>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"

namespace poprt::kernels {

/// Makes pixels of output blocks of what a matrix unit has summed, see MultiplySplit: blocks are
/// panels, and pixels are rows.
class SplitSums {
 public:
  /// For output blocks that begin every `block_floats` floats.
  SplitSums(const ConvMicroKernels& kernels, std::int64_t block_floats);

  /// y = epilogue(sums) for up to kSplitPanels blocks of up to kFinishedRows pixels. y and the
  /// epilogue's residual begin with the first pixel of the first block.
  void Finish(const float* sums, std::int64_t blocks, std::int64_t pixels,
              const TileEpilogue& epilogue, float* y);

 private:
  void CutIntoTiles(std::int64_t pixels);

  const ConvMicroKernels* kernels_;
  ConvPanel panel_;
  std::int64_t pixels_ = 0;  ///< into which so many tiles have been cut
  std::int64_t count_ = 0;
  std::array<ConvTile, (kFinishedRows + kTilePixels - 1) / kTilePixels> cut_;
};

}  // namespace poprt::kernels
