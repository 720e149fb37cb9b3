#include "runtime/kernels/blocked/winograd_filter.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kTaps = 3;
constexpr std::int64_t kLargestExtent = 256;

WinogradAxis AxisOf(std::int64_t extent, std::int64_t tile) {
  if (extent < kTaps) return {.tile = 1, .side = 1, .taps = 1, .parts = extent};
  return {.tile = tile, .side = tile + 2, .taps = kTaps, .parts = (extent - 1) / kTaps + 1};
}

}  // namespace

std::optional<WinogradFilter> WinogradFilterOf(const Ints& kernel, std::int64_t tile) {
  if (kernel.size() != 2 || (tile != 2 && tile != 4)) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(kernel);
  if (least < 1 || most > kLargestExtent || most < kTaps) return std::nullopt;
  if (tile == 2 && least < kTaps) return std::nullopt;
  return WinogradFilter{.rows = AxisOf(kernel[0], tile), .columns = AxisOf(kernel[1], tile)};
}

WinogradFilter RequireWinogradFilter(const Ints& kernel, std::int64_t tile) {
  Require(tile == 2 || tile == 4,
          "attribute tile is " + std::to_string(tile) + ", allowed are 2 and 4");
  const auto filter = WinogradFilterOf(kernel, tile);
  Require(filter.has_value(),
          "kernel_shape is " + ToString(Shape(kernel)) + ", Winograd convolution with tile " +
              std::to_string(tile) + " needs filters of 1 to " + std::to_string(kLargestExtent) +
              " taps along two axes, of at least 3 along " + (tile == 2 ? "both" : "one"));
  return *filter;
}

}  // namespace poprt::kernels
