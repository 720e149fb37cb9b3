#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/thread_pool.hpp"
#include "runtime/kernels/transpose_block.hpp"

namespace poprt::kernels {

/// Images of planes, [images, channels, pixels], with their channels last, [images, pixels,
/// channels], so that all channels of a pixel are sampled at once.
template <typename T>
void TurnImages(ThreadPool& pool, const T* from, std::int64_t images, std::int64_t channels,
                std::int64_t pixels, Accumulator<T>* to) {
  constexpr std::int64_t kPixels = 256;
  const EvenSplit parts(pixels, kPixels);
  pool.Run(images * parts.blocks(), [&](std::int64_t task, int /*worker*/) {
    const std::int64_t image = task / parts.blocks() * channels * pixels;
    const std::int64_t begin = parts.begin(task % parts.blocks());
    const std::int64_t count = parts.end(task % parts.blocks()) - begin;
    const T* const planes = from + image + begin;
    Accumulator<T>* const turned = to + image + begin * channels;
    if constexpr (std::is_same_v<T, Accumulator<T>>) {
      TransposeBlock(planes, pixels, channels, count, turned, channels);
    } else {
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t p = 0; p < count; ++p) {
          turned[p * channels + c] = static_cast<Accumulator<T>>(planes[c * pixels + p]);
        }
      }
    }
  });
}

/// Whether images of so many pixels and channels are turned, which takes as long as some samples do
/// and memory that there is for every worker, before `samples` of all channels are taken.
inline bool TurningPays(std::int64_t pixels, std::int64_t channels, double samples) {
  constexpr std::int64_t kFewestChannels = 16;
  constexpr double kPixelsOfSample = 4;
  constexpr std::int64_t kMostElements = 1 << 24;
  return channels >= kFewestChannels && pixels <= kMostElements / channels &&
         samples * kPixelsOfSample >= static_cast<double>(pixels);
}

}  // namespace poprt::kernels
