#pragma once

#include <cstdint>

/// What a 3x3 convolution of stride, dilation and group 1 on blocked images costs on the host, by
/// the algorithm that computes it. An estimate from sizes alone, so that a choice is the same on
/// every machine.
namespace poprt::passes {

struct ConvolutionSize {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
};

/// Cycles of one core with AVX2 for "blocked_conv2d", which leaves out taps that meet only padding.
double DirectCost(const ConvolutionSize& size);

/// The same for "blocked_winograd_conv2d"; `tile` is its attribute, 2 or 4.
double WinogradCost(std::int64_t tile, const ConvolutionSize& size);

/// The attribute tile of the "blocked_winograd_conv2d" to use, or 0 for direct convolution. Weights
/// of Winograd convolutions are larger (16 / 9 times for tile 2, 4 times for tile 4): each step to
/// larger ones must save a tenth of the time at least.
std::int64_t ChooseWinogradTile(const ConvolutionSize& size);

}  // namespace poprt::passes
