#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/ceil_div.hpp"

namespace poprt::kernels {

/// Cuts [0, count) into blocks whose sizes differ as little as possible. Depends on sizes only,
/// never on threads, so that results do not either.
class EvenSplit {
 public:
  /// Blocks of at most `largest` >= 1. Where that is a multiple of `unit`, all blocks are but the
  /// last.
  EvenSplit(std::int64_t count, std::int64_t largest, std::int64_t unit = 1)
      : count_(count), unit_(unit), grain_(largest % unit == 0 ? unit : 1) {
    blocks_ = CeilDiv(Grains(), largest / grain_);
  }

  /// The same range in blocks of at most `largest` >= 1.
  EvenSplit WithLargest(std::int64_t largest) const { return {count_, largest, unit_}; }

  std::int64_t count() const { return count_; }
  std::int64_t blocks() const { return blocks_; }
  std::int64_t begin(std::int64_t block) const {
    const std::int64_t base = Grains() / blocks_;
    return std::min(count_, grain_ * (block * base + std::min(block, Grains() % blocks_)));
  }
  std::int64_t end(std::int64_t block) const { return begin(block + 1); }
  /// Size of the largest block.
  std::int64_t largest() const { return blocks_ == 0 ? 0 : end(0); }

 private:
  std::int64_t Grains() const { return CeilDiv(count_, grain_); }

  std::int64_t count_;
  std::int64_t unit_;
  std::int64_t grain_;  ///< what begins are multiples of
  std::int64_t blocks_ = 0;
};

}  // namespace poprt::kernels
