#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/window_areas.hpp"

namespace poprt::kernels {

/// Rows of one block of channels of a blocked image. Only those that are needed have to exist.
struct BlockRows {
  const float* x = nullptr;  ///< row `first`
  std::int64_t first = 0;
};

/// Depthwise convolution of one block of channels: channels are lanes, so that a tap is one
/// multiply-add for every vector of outputs.
class DepthwiseFilter {
 public:
  /// From an image `in` to an image `out`; `activation` has the attributes of
  /// EpilogueWithActivation. The sizes passed RequireSmallOffsets.
  DepthwiseFilter(const ConvMicroKernels& kernels, const Window& window, const BlockedImage& in,
                  const BlockedImage& out, bool half_weights, const Attributes& activation);

  /// The weights of a block of channels.
  const std::byte* Weights(const std::byte* packed, std::int64_t block) const {
    return packed + block * taps_ * TapBytes();
  }

  /// Computes output rows [first_row, last_row) of a block. `weights` and `bias` are those of the
  /// block, `residual`, if that is not null, and `y` point to its first pixel.
  void Run(const BlockRows& rows, const std::byte* weights, const float* bias,
           std::int64_t first_row, std::int64_t last_row, const float* residual, float* y) const;

 private:
  std::int64_t TapBytes() const { return kBlock * (half_weights_ ? 2 : 4); }
  bool TakesLines() const;
  void RunLines(const BlockRows& rows, const std::byte* weights, const float* bias,
                std::int64_t first_row, std::int64_t last_row, const float* residual,
                float* y) const;
  void RunAreas(const BlockRows& rows, const std::byte* weights, const float* bias,
                std::int64_t first_row, std::int64_t last_row, const float* residual,
                float* y) const;

  const ConvMicroKernels* kernels_;
  Window window_;
  BlockedImage in_;
  BlockedImage out_;
  std::int64_t taps_;
  bool half_weights_;
  BlockedEpilogue epilogue_;
  WindowAreas areas_;
  bool takes_lines_;
};

}  // namespace poprt::kernels
