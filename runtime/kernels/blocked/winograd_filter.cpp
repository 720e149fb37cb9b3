#include "runtime/kernels/blocked/winograd_filter.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kTaps = 3;
// So that sums and products of a few cannot overflow.
constexpr std::int64_t kLargestExtent = 1 << 12;

WinogradAxis AxisOf(std::int64_t extent, std::int64_t tile) {
  if (extent < kTaps) return {.tile = 1, .side = 1, .taps = 1, .parts = extent};
  return {.tile = tile, .side = tile + 2, .taps = kTaps, .parts = (extent - 1) / kTaps + 1};
}

}  // namespace

WinogradFilter RequireWinogradFilter(const Ints& kernel, std::int64_t tile) {
  Require(tile == 2 || tile == 4,
          "attribute tile is " + std::to_string(tile) + ", allowed are 2 and 4");
  const auto is_extent = [](std::int64_t extent) {
    return extent >= 1 && extent <= kLargestExtent;
  };
  Require(kernel.size() == 2 && std::ranges::all_of(kernel, is_extent) &&
              std::ranges::max(kernel) >= kTaps,
          "Winograd convolution needs filters of 1 to " + std::to_string(kLargestExtent) +
              " taps along two axes, of at least 3 along one");
  Require(tile == 4 || std::ranges::min(kernel) >= kTaps,
          "filters of fewer than 3 taps along an axis need tile 4");
  return {.rows = AxisOf(kernel[0], tile), .columns = AxisOf(kernel[1], tile)};
}

}  // namespace poprt::kernels
