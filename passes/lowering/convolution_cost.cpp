#include "passes/lowering/convolution_cost.hpp"

#include <algorithm>

#include "passes/lowering/blocked_operator.hpp"
#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/winograd_filter.hpp"
#include "runtime/kernels/blocked/winograd_tiling.hpp"

namespace poprt::passes {
namespace {

// Fitted to 18 layers of 2x2 to 224x224 pixels on a Zen 3 core, with weights in no cache and direct
// convolution and both square tiles taking turns: layers of half a millisecond and more are met
// within a fifth, most of them within a tenth. Lines and wide filters agree as well with another
// core, of which the transforms of lines are. To what weights that stay in a cache take, and to
// small images, fitted to 31 layers of 3x3 to 10x10 pixels of 64 to 512 channels on a Zen 4 core,
// several of one network: the fastest by these takes 0.3 % longer than the fastest.
constexpr double kFlopsPerCycle = 32;
constexpr double kDirectEfficiency = 0.92;   ///< part of the peak
constexpr double kProductEfficiency = 0.88;  ///< of the products of transforms
constexpr double kStore = 24;                ///< cycles for 16 channels of an output pixel
constexpr double kTransform2 = 80;           ///< cycles for 16 channels of a tile, in or out
constexpr double kTransform4 = 340;
constexpr double kTransformLine4 = 70;            ///< the same for tiles of 4x1 and 1x4
constexpr double kNearBytes = 4.5 * 1024 * 1024;  ///< of weights that stay in a cache, at most
constexpr double kNearBytesPerCycle = 12;
constexpr double kFarBytesPerCycle = 5.5;
constexpr double kExposed = 0.1;  ///< part of the shorter of computing and loading, waited for
/// What a byte of weights that no cache keeps has to save, in cycles, for the memory that it takes:
/// a megabyte 30 microseconds of a core. Winograd's larger tile does not over 14x14 pixels, of
/// which it computes 16x16.
constexpr double kWorthOfFarByte = 0.1;

double CeilDiv(std::int64_t count, std::int64_t size) {
  const std::int64_t parts = count / size + (count % size != 0 ? 1 : 0);
  return static_cast<double>(parts);
}

double WithWeights(double compute, double weights) {
  const double bytes = weights * sizeof(float);
  const double load = bytes / (bytes <= kNearBytes ? kNearBytesPerCycle : kFarBytesPerCycle);
  return std::max(compute, load) + kExposed * std::min(compute, load);
}

/// Pairs of an output position and a tap, along one axis, that are multiplied, where as much
/// padding is before the image as behind it: a tap is left out where all of `together` positions
/// that are computed together meet padding.
double TapsMet(std::int64_t in, std::int64_t out, std::int64_t taps, std::int64_t dilation,
               std::int64_t stride, std::int64_t together) {
  const std::int64_t covered = (out - 1) * stride + (taps - 1) * dilation + 1;
  const std::int64_t padding = std::max<std::int64_t>(0, covered - in);
  double met = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t offset = tap * dilation - padding / 2;  // of the first output's input
    // Outputs before the first whose input is not before position `at`.
    const auto outputs_before = [&](std::int64_t at) {
      return std::clamp<std::int64_t>((at - offset + stride - 1) / stride, 0, out);
    };
    const std::int64_t first = outputs_before(0);
    const std::int64_t last = outputs_before(in);
    if (first >= last) continue;
    const std::int64_t begin = first / together * together;
    const std::int64_t end = std::min(((last - 1) / together + 1) * together, out);
    met += static_cast<double>(end - begin);
  }
  return met;
}

/// Tiles along an axis, in each of the phases that taps meet.
double Tiles(std::int64_t tile, std::int64_t out, std::int64_t dilation) {
  if (tile == 1) return static_cast<double>(out);
  // So many phases have an output more than the others.
  const double longer = static_cast<double>(out % dilation);
  const std::int64_t outputs = out / dilation;
  return longer * CeilDiv(outputs + 1, tile) +
         (static_cast<double>(dilation) - longer) * CeilDiv(outputs, tile);
}

/// Products of the input channels of a group with its output channels, in all groups, the spare
/// ones included.
double ChannelProducts(const ConvolutionSize& size) {
  const std::int64_t depth = size.in_channels / size.group;
  return static_cast<double>(depth) * CeilDiv(size.out_channels, kBlock) * kBlock;
}

double Weights(std::int64_t tile, const ConvolutionSize& size) {
  double weights = ChannelProducts(size);
  if (tile == 0) {
    weights *= static_cast<double>(size.kernel_height * size.kernel_width);
  } else {
    const auto filter =
        kernels::RequireWinogradFilter({size.kernel_height, size.kernel_width}, tile);
    weights *= static_cast<double>(filter.elements() * filter.parts());
  }
  return weights;
}

/// Whether what the kernel transforms at once stays far below what it refuses.
bool FitsScratch(const kernels::WinogradFilter& filter, std::int64_t channels) {
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 27;
  return channels <=
         kMostNumbers / (kernels::kMostTilesOfStrip * filter.elements() * filter.parts());
}

}  // namespace

double DirectCost(const ConvolutionSize& size) {
  const auto batch = static_cast<double>(size.batch);
  // Tiles are pixels of one row, or of several where rows are shorter.
  const std::int64_t rows_together =
      (kernels::kMostTilePixels - 1) / std::max<std::int64_t>(1, size.out_width) + 1;
  const double products =
      TapsMet(size.in_height, size.out_height, size.kernel_height, size.dilation_height,
              size.stride_height, rows_together) *
      TapsMet(size.in_width, size.out_width, size.kernel_width, size.dilation_width,
              size.stride_width, kernels::kMostTilePixels) *
      ChannelProducts(size);
  const double stores = static_cast<double>(size.out_height) * static_cast<double>(size.out_width) *
                        CeilDiv(size.out_channels, kBlock) * kStore;
  return WithWeights(batch * (2 * products / kFlopsPerCycle / kDirectEfficiency + stores),
                     Weights(0, size));
}

double WinogradCost(std::int64_t tile, const ConvolutionSize& size) {
  const auto [rows, columns] =
      kernels::RequireWinogradFilter({size.kernel_height, size.kernel_width}, tile);
  const auto parts = static_cast<double>(rows.parts * columns.parts);
  const double tiles = static_cast<double>(size.batch) *
                       Tiles(rows.tile, size.out_height, size.dilation_height) *
                       Tiles(columns.tile, size.out_width, size.dilation_width);
  const double weights = Weights(tile, size);
  const double products = 2 * weights * tiles / kFlopsPerCycle / kProductEfficiency;
  const bool is_line = rows.tile == 1 || columns.tile == 1;
  const double transform = is_line ? kTransformLine4 : tile == 2 ? kTransform2 : kTransform4;
  const double transforms =
      tiles * transform *
      (parts * CeilDiv(size.in_channels, kBlock) + CeilDiv(size.out_channels, kBlock));
  return WithWeights(products + transforms, weights);
}

std::vector<std::int64_t> TilesFor(const ConvolutionSize& size) {
  const bool has_unit_strides = size.stride_height == 1 && size.stride_width == 1;
  std::vector<std::int64_t> tiles;
  for (const std::int64_t tile : kWinogradTiles) {
    const auto filter = kernels::WinogradFilterOf({size.kernel_height, size.kernel_width}, tile);
    const bool is_winograd =
        has_unit_strides && filter && FitsScratch(*filter, size.in_channels / size.group);
    if (tile == 0 || is_winograd) tiles.push_back(tile);
  }
  return tiles;
}

double ConvolutionCost(std::int64_t tile, const ConvolutionSize& size) {
  const double cycles = tile == 0 ? DirectCost(size) : WinogradCost(tile, size);
  const double bytes = Weights(tile, size) * sizeof(float);
  return cycles + kWorthOfFarByte * std::max(0.0, bytes - kNearBytes);
}

double LeastConvolutionCost(const ConvolutionSize& size) {
  double least = ConvolutionCost(0, size);
  for (const std::int64_t tile : TilesFor(size)) {
    least = std::min(least, ConvolutionCost(tile, size));
  }
  return least;
}

}  // namespace poprt::passes
