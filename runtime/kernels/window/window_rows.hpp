#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// Walks the taps of a sliding window for whole rows of the output's last spatial axis at once, so
/// that the innermost loop runs over neighbouring outputs. Built at bind time; Visit allocates
/// nothing.
class WindowRows {
 public:
  /// The part of one output row that one tap reaches inside the input: outputs [begin, end), of
  /// which output x reads input offset + x * stride of the plane (offset may be negative for x =
  /// 0).
  struct Tap {
    std::int64_t index;   // of the tap in the window, row-major
    std::int64_t offset;  // elements
    std::int64_t begin;
    std::int64_t end;
  };

  /// `output` has at least one element; input strides fit int64.
  WindowRows(const Window& window, const Shape& input, const Shape& output)
      : window_(window), input_(input), output_(output), input_strides_(Strides(input)) {
    rows_ = ElementCount(output) / output.back();
    taps_ = ElementCount(window.kernel);
    const std::size_t last = output.size() - 1;
    for (std::int64_t k = 0; k < window.kernel[last]; ++k) {
      const std::int64_t offset = k * window.dilations[last] - window.pads_begin[last];
      const std::int64_t stride = window.strides[last];
      const std::int64_t begin = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
      const std::int64_t left = input[last] - offset;  // x * stride must stay below
      const std::int64_t end = left <= 0 ? 0 : (left - 1) / stride + 1;
      if (begin < std::min(end, output[last])) {
        last_taps_.push_back({k, offset, begin, std::min(end, output[last])});
      }
    }
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return output_.back(); }
  std::int64_t taps() const { return taps_; }
  std::int64_t input_plane() const { return ElementCount(input_); }
  std::int64_t stride() const { return window_.strides.back(); }

  /// Calls f(tap) for every tap that reaches the input in output row `row`, in the window's order.
  template <typename F>
  void Visit(std::int64_t row, const F& f) const {
    VisitAxis(0, row, rows_, 0, 0, f);
  }

  /// Calls f(axis, position) for every spatial axis but the last with the output position of `row`.
  template <typename F>
  void VisitPosition(std::int64_t row, const F& f) const {
    for (std::size_t axis = output_.size() - 1; axis-- > 0;) {
      f(axis, row % output_[axis]);
      row /= output_[axis];
    }
  }

 private:
  // The recursion is as deep as the operator has spatial axes.
  template <typename F>
  void VisitAxis(std::size_t axis, std::int64_t row, std::int64_t rows, std::int64_t index,
                 std::int64_t offset, const F& f) const {
    if (axis + 1 == output_.size()) {
      for (const Tap& tap : last_taps_) {
        f(Tap{index * window_.kernel[axis] + tap.index, offset + tap.offset, tap.begin, tap.end});
      }
      return;
    }
    rows /= output_[axis];
    const std::int64_t first = row / rows * window_.strides[axis] - window_.pads_begin[axis];
    for (std::int64_t k = 0; k < window_.kernel[axis]; ++k) {
      const std::int64_t at = first + k * window_.dilations[axis];
      if (at < 0 || at >= input_[axis]) continue;
      VisitAxis(axis + 1, row % rows, rows, index * window_.kernel[axis] + k,
                offset + at * input_strides_[axis], f);
    }
  }

  Window window_;
  Shape input_;
  Shape output_;
  Shape input_strides_;
  std::int64_t rows_ = 0;
  std::int64_t taps_ = 0;
  std::vector<Tap> last_taps_;  // those that reach the input at all
};

}  // namespace poprt::kernels
