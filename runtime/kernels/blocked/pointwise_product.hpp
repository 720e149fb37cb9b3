#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/split_conv2d.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"

namespace poprt::kernels {

/// Sums over channels at single pixels of a blocked image, a block of output channels at a time.
/// Groups may share a block: each computes its lanes of it and leaves the others. Input channels
/// are found by a table, so that groups begin in any lane and channels come in any order.
class PointwiseProduct {
 public:
  /// Operands 0, 1 and 2 of `call` are X, the weights and the bias; attributes in_channels,
  /// out_channels, group, channel_order; `activation` has those of EpilogueWithActivation. Checks
  /// them, but for the bias.
  PointwiseProduct(const KernelCall& call, const InnerLoops& loops, const Attributes& activation);

  const BlockedImage& in() const { return in_; }
  /// Of the result.
  std::int64_t channels() const { return out_channels_; }
  std::int64_t blocks() const { return BlocksOf(out_channels_); }
  /// Whether there is one group, and its channels are in the order of X.
  bool IsPlain() const;
  /// The same convolution with all pixels in one row, for a matrix unit, which takes plain ones
  /// only.
  SplitConvShape ShapeForUnit() const;
  /// Products for 16 channels of a pixel, those with zeros included; rounded.
  std::int64_t ProductsOfBlock() const;

  /// Pixels that follow each other, in all blocks of X.
  struct Pixels {
    const float* x;  ///< the first one, in the first block
    /// From x to each channel in the order of weights, those of all groups.
    const std::int32_t* channel_offsets;
    std::int64_t count;
  };
  Pixels PixelsOf(const KernelArguments& args, std::int64_t image, std::int64_t first,
                  std::int64_t count) const;
  /// The channel_offsets of a copy of X whose blocks begin every `block_floats` floats.
  std::vector<std::int32_t> OffsetsOfCopy(std::int64_t block_floats) const;

  /// Blocks of channels of the result.
  struct Outputs {
    std::int64_t first;
    std::int64_t count;
    const float* residual;      ///< the first pixel of the first block, or null
    float* y;                   ///< the same
    std::int64_t block_floats;  ///< of both, from one block to the next
    float* widened = nullptr;   ///< scratch memory of WidenedFloats()
  };
  /// Those that Run needs, of weights that are widened.
  std::int64_t WidenedFloats() const { return weights_.WidenedFloats(kernels_->outs, ins_); }
  void Run(const KernelArguments& args, const Pixels& pixels, const Outputs& outputs) const;

  /// Blocks of channels that are best computed together.
  std::int64_t BlocksAtOnce() const { return kernels_->outs; }

 private:
  const ConvMicroKernels* kernels_;
  const GemmMicroKernels* gemm_;
  BlockedImage in_;
  std::int64_t out_channels_;
  std::int64_t ins_ = 0;  ///< input channels of a group
  StoredPanels weights_;
  BlockedEpilogue epilogue_;
  /// Pieces from `first` on of one group, each a block of its own, that one pass can compute.
  std::size_t PiecesAtOnce(std::size_t first, std::size_t last) const;

  Ints channel_order_;                         ///< of X, in the order of weights
  std::vector<std::int32_t> channel_offsets_;  ///< the same as offsets
  bool in_fours_ = false;                      ///< see PointwisePanel
  std::vector<GroupPiece> pieces_;
  std::vector<std::size_t> first_pieces_;  ///< of every output block, and their number
};

}  // namespace poprt::kernels
