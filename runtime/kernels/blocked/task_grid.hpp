#pragma once

#include <cstdint>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

/// Tiles of the smallest strip of pixels that is estimated, and of one whose weights are larger
/// than the image: each strip reads them.
inline constexpr std::int64_t kSmallestStrip = 8;
inline constexpr std::int64_t kSmallestOfLargeWeights = 17;

/// Cuts strips of an image's pixels and blocks of output channels in halves until `images` images
/// have `wanted` tasks, or none is of twice the smallest size. More strips read the weights more
/// often, more blocks the image: the smaller of the two is read again first.
inline void CutInHalves(std::int64_t images, std::int64_t wanted, bool small_weights,
                        std::int64_t smallest_strip, EvenSplit& strips, EvenSplit& outs) {
  for (const bool cut_strips : {small_weights, !small_weights}) {
    while (images * strips.blocks() * outs.blocks() < wanted) {
      EvenSplit& split = cut_strips ? strips : outs;
      if (split.largest() < 2 * (cut_strips ? smallest_strip : kTilePanels)) break;
      const std::int64_t half = (split.largest() + 1) / 2;
      split = split.WithLargest(cut_strips ? half : WholeTilePanels(half));
    }
  }
}

/// Whether no worker waits for long where `workers` share out `tasks` of one size.
inline bool AreSharedEvenly(std::int64_t tasks, std::int64_t workers) {
  return tasks % workers == 0 || tasks >= 4 * workers;
}

/// Numbers tasks, each of which is one part of the pixels by one part of the channels. A worker has
/// a range of the numbers (ThreadPool), so workers share out what is counted outside. Where that is
/// pixels in one layer and the next, each core finds in its caches what it wrote; where weights are
/// larger than the image it should be channels, so that each core reads weights of its own.
class TaskGrid {
 public:
  enum class Outside : std::uint8_t { kPixels, kChannels };

  struct Task {
    std::int64_t pixels;    ///< number of the part
    std::int64_t channels;  ///< number of the part
  };

  TaskGrid(std::int64_t pixels, std::int64_t channels, Outside outside)
      : pixels_(pixels), channels_(channels), outside_(outside) {}

  /// For parts of one image's pixels, or those of all channels of several images.
  static TaskGrid OfPlanes(std::int64_t images, std::int64_t pixels, std::int64_t channels) {
    return {pixels, channels, images == 1 ? Outside::kPixels : Outside::kChannels};
  }

  /// For strips of an image's pixels, whose weights, of all channels, are smaller than the image or
  /// not.
  static TaskGrid OfStrips(std::int64_t strips, std::int64_t channels, bool small_weights) {
    return {strips, channels, small_weights ? Outside::kPixels : Outside::kChannels};
  }

  std::int64_t count() const { return pixels_ * channels_; }
  /// The task of number [0, count()).
  Task At(std::int64_t number) const {
    if (outside_ == Outside::kPixels) return {number / channels_, number % channels_};
    return {number % pixels_, number / pixels_};
  }

 private:
  std::int64_t pixels_;
  std::int64_t channels_;
  Outside outside_;
};

}  // namespace poprt::kernels
