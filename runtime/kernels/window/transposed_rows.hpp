#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// Walks the taps of a transposed window (ConvTranspose, Col2Im) for whole rows of the output's
/// last spatial axis at once. Built at bind time; Visit allocates nothing.
class TransposedRows {
 public:
  /// What one tap adds to one output row: input elements in, in + 1, ... of the plane go to outputs
  /// out, out + stride(), ...
  struct Tap {
    std::int64_t index;  // of the tap in the window, row-major
    std::int64_t in;
    std::int64_t out;
    std::int64_t count;
  };

  /// `window` is that of the convolution that is transposed; `output` has at least one element.
  TransposedRows(const Window& window, const Shape& input, const Shape& output)
      : window_(window), input_(input), output_(output), input_strides_(Strides(input)) {
    const std::size_t last = output.size() - 1;
    rows_ = ElementCount(output) / output[last];
    taps_ = ElementCount(window.kernel);
    const std::int64_t stride = window.strides[last];
    for (std::int64_t k = 0; k < window.kernel[last]; ++k) {
      const std::int64_t offset = k * window.dilations[last] - window.pads_begin[last];
      const std::int64_t begin = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
      const std::int64_t left = output[last] - offset;  // x * stride must stay below
      const std::int64_t end = std::min(input[last], left <= 0 ? 0 : (left - 1) / stride + 1);
      if (begin < end) last_taps_.push_back({k, begin, offset + begin * stride, end - begin});
    }
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return output_.back(); }
  std::int64_t taps() const { return taps_; }
  std::int64_t input_plane() const { return ElementCount(input_); }
  std::int64_t stride() const { return window_.strides.back(); }

  /// Calls f(tap) for every tap that adds to output row `row`, in the window's order.
  template <typename F>
  void Visit(std::int64_t row, const F& f) const {
    VisitAxis(0, row, rows_, 0, 0, f);
  }

 private:
  // The recursion is as deep as the operator has spatial axes.
  template <typename F>
  void VisitAxis(std::size_t axis, std::int64_t row, std::int64_t rows, std::int64_t index,
                 std::int64_t offset, const F& f) const {
    if (axis + 1 == output_.size()) {
      for (const Tap& tap : last_taps_) {
        f(Tap{index * window_.kernel[axis] + tap.index, offset + tap.in, tap.out, tap.count});
      }
      return;
    }
    rows /= output_[axis];
    for (std::int64_t k = 0; k < window_.kernel[axis]; ++k) {
      const std::int64_t at = row / rows + window_.pads_begin[axis] - k * window_.dilations[axis];
      if (at < 0 || at % window_.strides[axis] != 0) continue;
      const std::int64_t from = at / window_.strides[axis];
      if (from >= input_[axis]) continue;
      VisitAxis(axis + 1, row % rows, rows, index * window_.kernel[axis] + k,
                offset + from * input_strides_[axis], f);
    }
  }

  Window window_;
  Shape input_;
  Shape output_;
  Shape input_strides_;
  std::int64_t rows_ = 0;
  std::int64_t taps_ = 0;
  std::vector<Tap> last_taps_;  // those that reach the output at all
};

}  // namespace poprt::kernels
