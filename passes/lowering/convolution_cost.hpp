#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// What a convolution on blocked images costs on the host, by the algorithm that
/// computes it. An estimate from sizes alone, so that a choice is the same on every machine.
namespace poprt::passes {

struct ConvolutionSize {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t group = 1;
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
  std::int64_t dilation_height = 1;
  std::int64_t dilation_width = 1;
  std::int64_t stride_height = 1;
  std::int64_t stride_width = 1;
  std::int64_t kernel_height = 3;
  std::int64_t kernel_width = 3;
};

/// Cycles of one core with AVX2 for "blocked_conv2d", which leaves out taps that meet only padding.
double DirectCost(const ConvolutionSize& size);

/// The same for "blocked_winograd_conv2d", which has strides of 1; `tile` is its attribute, one
/// that kernels::WinogradFilterOf has a filter for.
double WinogradCost(std::int64_t tile, const ConvolutionSize& size);

/// What there is to choose from, by the attribute `tile` of "blocked_winograd_conv2d"; 0 stands for
/// direct convolution. Ordered by bytes of weights: those of Winograd convolutions of 3x3 are
/// 16 / 9 times as large for tile 2 and 4 times for tile 4, and so are those of each part of a
/// wider filter.
inline constexpr std::array<std::int64_t, 3> kWinogradTiles{0, 2, 4};

/// Those of kWinogradTiles that there are for the size.
std::vector<std::int64_t> TilesFor(const ConvolutionSize& size);

/// Cycles for one of kWinogradTiles, and what its weights have to save for their memory.
double ConvolutionCost(std::int64_t tile, const ConvolutionSize& size);

/// The least of them for TilesFor.
double LeastConvolutionCost(const ConvolutionSize& size);

}  // namespace poprt::passes
