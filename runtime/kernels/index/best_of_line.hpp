#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {

/// A number that is the larger the earlier an element of a line of floats stands among its largest
/// or, without kLargest, smallest ones: equal elements in the order of their indices, which are
/// below 2^32, NaN as the greatest of all.
template <bool kLargest>
std::uint64_t RankKeyOf(float x, std::int64_t index) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x == 0.0F ? 0.0F : x);
  std::uint32_t rank = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  if (x != x) rank = 0xFFFFFFFFU;
  return std::uint64_t{kLargest ? rank : ~rank} << 32 | ~static_cast<std::uint32_t>(index);
}

/// The index in a key.
inline std::int64_t IndexOfKey(std::uint64_t key) {
  const auto low = static_cast<std::uint32_t>(key);
  return std::int64_t{~low};
}

/// Finds the k best elements of lines of floats, 0 < k <= length < 2^32, one line at a time.
class BestOfLine {
 public:
  BestOfLine(std::int64_t length, std::int64_t k) : length_(length), k_(k) {}

  /// The indices of the k best, in order; `order` has room for the line.
  template <bool kLargest>
  void Select(const float* values, std::int64_t* order) const {
    auto* const keys = reinterpret_cast<std::uint64_t*>(order);
    const std::int64_t groups = Groups();
    const float limit = groups > 0 ? NumberBehindBest<kLargest>(values, groups) : 0;
    const std::int64_t kept = groups > 0 && !std::isinf(limit)
                                  ? KeepBetter<kLargest>(values, limit, keys)
                                  : KeepBest<kLargest>(values, keys);
    SortBest(keys, kept);
    for (std::int64_t place = 0; place < k_; ++place) order[place] = IndexOfKey(keys[place]);
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  /// Elements that are passed over at a time, at most and at least.
  static constexpr std::int64_t kLongSkip = 64;
  static constexpr std::int64_t kSkip = 16;

  /// Whether the next kCount numbers are all so, with vectors.
  template <std::int64_t kCount, typename Is>
  static bool AllOf(const float* x, const Is& is) {
    std::uint32_t others = 0;
    POPRT_LANE_LOOP
    for (std::int64_t i = 0; i < kCount; ++i) others |= is(x[i]) ? 0U : 1U;
    return others == 0;
  }

  static constexpr std::int64_t kFewestGroups = 64;
  static constexpr std::int64_t kMostGroups = 512;

  /// Elements are grouped by their index modulo so many groups, more than the best are; 0 where
  /// that does not pay.
  std::int64_t Groups() const {
    std::int64_t groups = kFewestGroups;
    while (groups < 4 * k_) groups *= 2;
    return groups <= kMostGroups && length_ >= 2 * groups ? groups : 0;
  }

  /// Of so many and fewer, those before each are counted: more comparisons than a search makes, but
  /// none that a processor has to guess.
  static constexpr std::int64_t kFew = 64;

  /// places[i] is how many of the first `count` numbers, at most kFew, are before x[i], for all
  /// kFew.
  template <typename T, typename Place, typename Before>
  POPRT_INLINE static void CountBefore(const T* x, std::int64_t count, Place (&places)[kFew],
                                       const Before& before) {
    static_assert(sizeof(T) == sizeof(Place), "which vectors want");
    constexpr std::int64_t kVector = 64 / sizeof(T);
    for (std::int64_t first = 0; first < kFew; first += kVector) {
      Place counts[kVector] = {};
      for (std::int64_t j = 0; j < count; ++j) {
        const T other = x[j];
        POPRT_LANE_LOOP
        for (std::int64_t i = 0; i < kVector; ++i) counts[i] += before(other, x[first + i]) ? 1 : 0;
      }
      std::copy_n(counts, kVector, places + first);
    }
  }

  static_assert(kFewestGroups >= kFew, "so that KthBest has as many numbers");

  /// The k-th best of `count` numbers, at least kFew, which are moved if there are more.
  template <bool kLargest>
  float KthBest(float* x, std::int64_t count) const {
    const auto before = [](float a, float b) { return kLargest ? a > b : a < b; };
    if (count > kFew) {
      std::nth_element(x, x + k_ - 1, x + count, before);
      return x[k_ - 1];
    }
    std::int32_t places[kFew];
    CountBefore(x, count, places, before);
    // The last of those that fewer than k stand before.
    std::int32_t last = -1;
    float kth = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool is_later = places[i] < k_ && places[i] > last;
      last = is_later ? places[i] : last;
      kth = is_later ? x[i] : kth;
    }
    return kth;
  }

  /// A number that is not among the k best, and few others are better: the k-th best of the best of
  /// each group has k - 1 elements before it. Infinite if there may be no such number.
  template <bool kLargest>
  float NumberBehindBest(const float* values, std::int64_t groups) const {
    constexpr float kWorst = kLargest ? -kInfinity : kInfinity;
    float best[kMostGroups];
    std::fill_n(best, groups, kWorst);
    for (std::int64_t i = 0; i + groups <= length_; i += groups) {
      POPRT_INDEPENDENT_LOOP
      POPRT_LANE_LOOP
      for (std::int64_t g = 0; g < groups; ++g) {
        const float x = values[i + g];
        best[g] = (kLargest ? x > best[g] : x < best[g]) ? x : best[g];
      }
    }
    return std::nextafter(KthBest<kLargest>(best, groups), kWorst);
  }

  /// Moves the k best keys to the front, in order.
  void SortBest(std::uint64_t* keys, std::int64_t kept) const {
    if (kept > kFew) {
      if (kept > k_) std::nth_element(keys, keys + k_ - 1, keys + kept, std::greater<>());
      return std::sort(keys, keys + k_, std::greater<>());
    }
    std::uint64_t all[kFew] = {};
    std::copy_n(keys, kept, all);
    std::int64_t places[kFew];
    CountBefore(all, kept, places, std::greater<>());
    for (std::int64_t i = 0; i < kept; ++i) {
      if (places[i] < k_) keys[places[i]] = all[i];
    }
  }

  // Of equal elements the earlier ones are better. A NaN is better than any number where the
  // largest are sought.
  template <bool kLargest>
  static bool Loses(float x, float limit) {
    return kLargest ? x <= limit : x >= limit;
  }

  /// Calls take(begin, end) for all elements but those of blocks that all lose against `limit`.
  template <bool kLargest, typename Take>
  void Skip(const float* values, std::int64_t i, const float& limit, const Take& take) const {
    const auto loses = [&limit](float x) { return Loses<kLargest>(x, limit); };
    // Worth while where most blocks hold none of the best.
    const bool skips = length_ >= 32 * k_;
    while (skips && i + kLongSkip <= length_) {
      const std::int64_t end = i + kLongSkip;
      if (AllOf<kLongSkip>(values + i, loses)) i = end;
      for (; i < end; i += kSkip) {
        if (!AllOf<kSkip>(values + i, loses)) take(i, i + kSkip);
      }
    }
    take(i, length_);
  }

  /// Keys of the elements that are better than `limit`; returns how many those are.
  template <bool kLargest>
  std::int64_t KeepBetter(const float* values, float limit, std::uint64_t* keys) const {
    std::int64_t kept = 0;
    Skip<kLargest>(values, 0, limit, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        keys[kept] = static_cast<std::uint64_t>(i);
        kept += Loses<kLargest>(values[i], limit) ? 0 : 1;
      }
    });
    for (std::int64_t i = 0; i < kept; ++i) {
      const auto index = static_cast<std::int64_t>(keys[i]);
      keys[i] = RankKeyOf<kLargest>(values[index], index);
    }
    return kept;
  }

  /// The same without a limit: keeps what is better than the k-th best so far.
  template <bool kLargest>
  std::int64_t KeepBest(const float* values, std::uint64_t* keys) const {
    const std::int64_t room = std::min(length_, 2 * k_ + 32);
    std::int64_t kept = 0;
    float limit = 0;
    const auto keep_best = [&] {
      std::nth_element(keys, keys + k_ - 1, keys + kept, std::greater<>());
      kept = k_;
      limit = values[IndexOfKey(keys[k_ - 1])];
    };
    for (; kept < room; ++kept) keys[kept] = RankKeyOf<kLargest>(values[kept], kept);
    keep_best();
    Skip<kLargest>(values, room, limit, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        if (Loses<kLargest>(values[i], limit)) continue;
        if (kept == room) keep_best();
        if (!Loses<kLargest>(values[i], limit)) keys[kept++] = RankKeyOf<kLargest>(values[i], i);
      }
    });
    return kept;
  }

  std::int64_t length_;
  std::int64_t k_;
};

}  // namespace poprt::kernels
