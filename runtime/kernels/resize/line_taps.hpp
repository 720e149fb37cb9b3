#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/resize/resize_table.hpp"

namespace poprt::kernels {

/// Resizes lines of floats along one axis with `inner` elements at every position: every position
/// of the result is a weighted sum of some of the line, an even number of them as interpolation has
/// it. Positions without weight do not count, not even where they hold infinity.
class LineTaps {
 public:
  LineTaps() = default;
  LineTaps(const ResizeAxis& axis, std::int64_t inner)
      : taps_(axis.taps),
        width_(axis.out),
        step_((axis.out + kLanes - 1) / kLanes * kLanes),
        inner_(inner),
        weights_(static_cast<std::size_t>(taps_ * step_)),
        positions_(weights_.size()) {
    for (std::int64_t i = 0; i < width_ * taps_; ++i) {
      const auto to = static_cast<std::size_t>(i % taps_ * step_ + i / taps_);
      weights_[to] = static_cast<float>(axis.weight[static_cast<std::size_t>(i)]);
      positions_[to] = static_cast<std::int32_t>(axis.index[static_cast<std::size_t>(i)]);
    }
    if (inner_ == 1) FindWindows();
  }

  bool empty() const { return taps_ == 0; }

  /// Elements that are read behind the line, whatever they are.
  static constexpr std::int64_t kReadBehind = 16;

  void Run(const float* line, float* out) const {
    AddTaps<true>(0, line, out);
    for (std::int64_t k = 2; k < taps_; k += 2) AddTaps<false>(k, line, out);
  }

 private:
  static constexpr std::int64_t kLanes = 8;
  using Floats = float __attribute__((vector_size(kLanes * 4)));
  using Lanes = std::int32_t __attribute__((vector_size(kLanes * 4)));

  /// What each eight neighbours read of the line, where that is a window of few elements for all of
  /// them: registers are permuted faster than elements are gathered one by one.
  void FindWindows() {
    std::int32_t largest = 0;
    for (std::size_t i = 0; i < positions_.size(); i += kLanes) {
      // Behind the last position of a tap stand zeros.
      const auto x = static_cast<std::int64_t>(i) % step_;
      const auto begin = positions_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = begin + std::min(kLanes, width_ - x);
      begins_.push_back(*std::min_element(begin, end));
      for (auto position = begin; position != begin + kLanes; ++position) {
        lanes_.push_back(position < end ? *position - begins_.back() : 0);
        largest = std::max(largest, lanes_.back());
      }
    }
    window_ = largest < kLanes ? kLanes : largest < 2 * kLanes ? 2 * kLanes : 0;
    if (window_ > 0) return;
    begins_.clear();
    lanes_.clear();
  }

  /// What has no weight does not count.
  static float Product(float weight, float value) {
    const float product = weight * value;
    return weight == 0 ? 0.0F : product;
  }

  /// Adds the taps k and k + 1 to `out`; the first ones begin it.
  template <bool kFirst>
  void AddTaps(std::int64_t k, const float* line, float* out) const {
    if (window_ == kLanes) return AddWindows<kFirst, kLanes>(k, line, out);
    if (window_ == 2 * kLanes) return AddWindows<kFirst, 2 * kLanes>(k, line, out);
    const float* weights = weights_.data() + k * step_;
    const std::int32_t* positions = positions_.data() + k * step_;
    const auto sum = [](float so_far, float weight, float value, float next_weight, float next) {
      const float first = kFirst ? Product(weight, value) : so_far + Product(weight, value);
      return first + Product(next_weight, next);
    };
    if (inner_ == 1) {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t x = 0; x < width_; ++x) {
        out[x] = sum(kFirst ? 0 : out[x], weights[x], line[positions[x]], weights[step_ + x],
                     line[positions[step_ + x]]);
      }
      return;
    }
    for (std::int64_t x = 0; x < width_; ++x) {
      const float weight = weights[x];
      const float next_weight = weights[step_ + x];
      const float* from = line + positions[x] * inner_;
      const float* next = line + positions[step_ + x] * inner_;
      float* to = out + x * inner_;
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t j = 0; j < inner_; ++j) {
        to[j] = sum(kFirst ? 0 : to[j], weight, from[j], next_weight, next[j]);
      }
    }
  }

  template <bool kFirst, std::int64_t kWindow>
  void AddWindows(std::int64_t k, const float* line, float* out) const {
    const std::int64_t whole = width_ / kLanes * kLanes;
    for (std::int64_t x = 0; x < whole; x += kLanes) {
      AddWindow<kFirst, kWindow>(k * step_ + x, line, out + x);
    }
    if (whole == width_) return;
    float rest[kLanes];
    std::copy_n(out + whole, width_ - whole, rest);
    AddWindow<kFirst, kWindow>(k * step_ + whole, line, rest);
    std::copy_n(rest, width_ - whole, out + whole);
  }

  /// Of the positions from `at` on in the tables.
  template <bool kFirst, std::int64_t kWindow>
  void AddWindow(std::int64_t at, const float* line, float* out) const {
    Floats sum;
    std::memcpy(&sum, out, sizeof(sum));
    for (int tap = 0; tap < 2; ++tap, at += step_) {
      Floats weights;
      Floats values;
      std::memcpy(&weights, weights_.data() + at, sizeof(weights));
      Permute<kWindow>(line + begins_[static_cast<std::size_t>(at / kLanes)], lanes_.data() + at,
                       values);
      const Floats products = weights == 0 ? Floats{} : weights * values;
      sum = kFirst && tap == 0 ? products : sum + products;
    }
    std::memcpy(out, &sum, sizeof(sum));
  }

  /// values[i] = window[lanes[i]]
  template <std::int64_t kWindow>
  static void Permute(const float* window, const std::int32_t* lanes, Floats& values) {
#if defined(__clang__)
    for (int i = 0; i < kLanes; ++i) values[i] = window[lanes[i]];
#else
    Lanes mask;
    Floats low;
    Floats high;
    std::memcpy(&mask, lanes, sizeof(mask));
    std::memcpy(&low, window, sizeof(low));
    std::memcpy(&high, window + kLanes, sizeof(high));
    values = kWindow == kLanes ? __builtin_shuffle(low, mask) : __builtin_shuffle(low, high, mask);
#endif
  }

  std::int64_t taps_ = 0;
  std::int64_t width_ = 0;
  std::int64_t step_ = 0;  ///< from one tap to the next: whole vectors
  std::int64_t inner_ = 1;
  std::vector<float> weights_;           ///< [tap][step]
  std::vector<std::int32_t> positions_;  ///< the same
  std::int64_t window_ = 0;              ///< elements: one vector, two, or 0 where they are more
  std::vector<std::int32_t> begins_;     ///< of every window
  std::vector<std::int32_t> lanes_;      ///< positions within their windows
};

}  // namespace poprt::kernels
