#pragma once

#include <algorithm>
#include <cstdint>

namespace poprt::kernels {

/// Cuts [0, count) into blocks whose sizes differ by at most one. Depends on sizes only, never on
/// threads, so that results do not either.
class EvenSplit {
 public:
  /// Blocks of at most `largest` >= 1.
  EvenSplit(std::int64_t count, std::int64_t largest)
      : count_(count), blocks_(count / largest + (count % largest != 0 ? 1 : 0)) {}

  std::int64_t count() const { return count_; }
  std::int64_t blocks() const { return blocks_; }
  std::int64_t begin(std::int64_t block) const {
    const std::int64_t base = count_ / blocks_;
    return block * base + std::min(block, count_ % blocks_);
  }
  std::int64_t end(std::int64_t block) const { return begin(block + 1); }
  /// Size of the largest block.
  std::int64_t largest() const { return blocks_ == 0 ? 0 : end(0); }

 private:
  std::int64_t count_;
  std::int64_t blocks_;
};

}  // namespace poprt::kernels
