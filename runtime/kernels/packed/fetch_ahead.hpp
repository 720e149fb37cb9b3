#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

/// Shares the fetching of what comes next among tiles that pass over the same panels.
///
/// Panels that stay in the first-level cache are fetched there by the last tiles; earlier they
/// would push out those in use. Larger ones, or all where there are few tiles, are fetched into the
/// second-level cache by all tiles evenly: a core has places for few lines at once, and the more of
/// them wait for memory, the longer the tile itself waits for a place. The only tile of a few rows
/// fetches what itself needs next.
class FetchAhead {
 public:
  /// For `tiles` tiles, each of `depth` rows of panels of elements of `size` bytes.
  FetchAhead(std::int64_t tiles, std::int64_t depth, std::int64_t size)
      : tiles_(tiles),
        depth_(depth),
        line_(kLineBytes / size),
        parts_(kDepthStep * kPanel / line_),
        is_near_(tiles >= parts_ && kTilePanels * depth * kPanel * size <= kNearBytes) {}

  /// What tile t fetches of the panels from `next` on, null if there are none in memory; those from
  /// `current` on are in use.
  template <class T>
  Ahead<T> Of(std::int64_t t, const T* current, const T* next) const {
    if (tiles_ == 1) return {current + kOwnLines * line_, kDepthStep * kPanel, Fetching::kOwn};
    if (next == nullptr) return {current, 0, Fetching::kNear};
    if (!is_near_) {
      const std::int64_t share = (kDepthStep * kPanel + tiles_ - 1) / tiles_;
      const std::int64_t step = std::min(share, 2 * line_);
      return {next + t * (depth_ / kDepthStep) * step, step, Fetching::kFar};
    }
    const std::int64_t part = t + parts_ - tiles_;
    if (part < 0) return {current, 0, Fetching::kNear};
    return {next + part * (depth_ / kDepthStep) * line_, line_, Fetching::kNear};
  }

 private:
  static constexpr std::int64_t kLineBytes = 64;
  static constexpr std::int64_t kDepthStep = 4;
  static constexpr std::int64_t kOwnLines = 48;  ///< ahead of what is read
  static constexpr std::int64_t kNearBytes = 48 << 10;

  std::int64_t tiles_;
  std::int64_t depth_;
  std::int64_t line_;   ///< elements of a line
  std::int64_t parts_;  ///< of a panel, a line for every four rows: 4 of floats, 2 of float16
  bool is_near_;
};

}  // namespace poprt::kernels
