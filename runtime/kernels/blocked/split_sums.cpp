#include "runtime/kernels/blocked/split_sums.hpp"

#include <algorithm>

#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

SplitSums::SplitSums(const ConvMicroKernels& kernels, std::int64_t block_floats)
    : kernels_(&kernels) {
  panel_.last_channels = kBlock;
  panel_.start_step = kBlock;
  panel_.start_block = kSplitPairSums;
  panel_.outputs.y = block_floats;
  CutIntoTiles(kFinishedRows);
}

void SplitSums::CutIntoTiles(std::int64_t pixels) {
  const RegisterTiles cut(pixels, kernels_->pixels);
  pixels_ = pixels;
  count_ = cut.count();
  for (std::int64_t t = 0; t < count_; ++t) {
    cut_[static_cast<std::size_t>(t)] = {.pixels = static_cast<std::int32_t>(cut.size(t)),
                                         .taps = 0};
  }
}

void SplitSums::Finish(const float* sums, std::int64_t blocks, std::int64_t pixels,
                       const TileEpilogue& epilogue, float* y) {
  if (pixels != pixels_) CutIntoTiles(pixels);
  panel_.epilogue = epilogue;
  for (std::int64_t block = 0; block < blocks; block += kernels_->outs) {
    const std::int64_t at = block * panel_.outputs.y;
    panel_.start = sums + block * kSplitPairSums;
    panel_.y = y + at;
    if (epilogue.residual != nullptr) panel_.epilogue.residual = epilogue.residual + at;
    panel_.outputs.count = static_cast<int>(std::min<std::int64_t>(kernels_->outs, blocks - block));
    kernels_->conv_f32(panel_, cut_.data(), count_, nullptr);
  }
}

}  // namespace poprt::kernels
