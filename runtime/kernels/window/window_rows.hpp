#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// Walks the taps of a window for whole rows of the output's last spatial axis at once, so that the
/// innermost loop runs over neighbouring elements. Output position x of a sliding window (Conv,
/// pooling) reads input position x * stride + offset of the tap; input position x of a transposed
/// one (ConvTranspose, Col2Im) adds to output position x * stride + offset. Built at bind time;
/// Visit allocates nothing.
template <bool kTransposed>
class TapRows {
 public:
  /// The part of one output row that one tap reaches, as pairs of an element of the input plane and
  /// one of the row. From pair to pair the window's side (the output's, transposed the input's)
  /// moves by 1 and the other one by stride().
  struct Tap {
    std::int64_t index;  // of the tap in the window, row-major
    std::int64_t in;     // first element of the input plane
    std::int64_t out;    // first element of the output row
    std::int64_t count;  // of pairs, at least 1
  };

  /// `window` slides over the input; transposed, over the output. `output` has at least one
  /// element; input strides fit int64.
  TapRows(const Window& window, const Shape& input, const Shape& output)
      : window_(window), input_(input), output_(output), input_strides_(Strides(input)) {
    const Shape leading(output.begin(), output.end() - 1);
    rows_ = ElementCount(leading);
    row_strides_ = Strides(leading);
    taps_ = ElementCount(window.kernel);
    const std::int64_t windows = kTransposed ? input.back() : output.back();
    const std::int64_t extent = kTransposed ? output.back() : input.back();
    for (std::int64_t k = 0; k < window.kernel.back(); ++k) {
      const std::int64_t offset = k * window.dilations.back() - window.pads_begin.back();
      const std::int64_t begin = offset >= 0 ? 0 : (-offset - 1) / stride() + 1;
      const std::int64_t left = extent - offset;  // x * stride must stay below
      const std::int64_t end = std::min(windows, left <= 0 ? 0 : (left - 1) / stride() + 1);
      if (begin >= end) continue;
      const std::int64_t first = offset + begin * stride();
      last_taps_.push_back(
          {k, kTransposed ? begin : first, kTransposed ? first : begin, end - begin});
    }
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return output_.back(); }
  std::int64_t taps() const { return taps_; }
  std::int64_t input_plane() const { return ElementCount(input_); }
  std::int64_t stride() const { return window_.strides.back(); }

  /// Calls f(tap) for every tap that pairs input with output row `row`, in the window's order.
  template <typename F>
  void Visit(std::int64_t row, const F& f) const {
    VisitAxis(0, row, 0, 0, f);
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
  void VisitAxis(std::size_t axis, std::int64_t row, std::int64_t index, std::int64_t offset,
                 const F& f) const {
    if (axis + 1 == output_.size()) {
      for (const Tap& tap : last_taps_) {
        f(Tap{index * window_.kernel[axis] + tap.index, offset + tap.in, tap.out, tap.count});
      }
      return;
    }
    const std::int64_t at = row / row_strides_[axis];
    const std::int64_t rest = row % row_strides_[axis];
    for (std::int64_t k = 0; k < window_.kernel[axis]; ++k) {
      const std::int64_t from = InputPosition(axis, at, k);
      if (from < 0 || from >= input_[axis]) continue;
      VisitAxis(axis + 1, rest, index * window_.kernel[axis] + k,
                offset + from * input_strides_[axis], f);
    }
  }

  /// Where tap k meets output position `at`; not inside the input if nowhere.
  std::int64_t InputPosition(std::size_t axis, std::int64_t at, std::int64_t k) const {
    const std::int64_t stride = window_.strides[axis];
    const std::int64_t offset = k * window_.dilations[axis] - window_.pads_begin[axis];
    if constexpr (!kTransposed) return at * stride + offset;
    return (at - offset) % stride == 0 ? (at - offset) / stride : -1;
  }

  Window window_;
  Shape input_;
  Shape output_;
  Shape input_strides_;
  Shape row_strides_;  // of the output's axes but the last, in rows
  std::int64_t rows_ = 0;
  std::int64_t taps_ = 0;
  std::vector<Tap> last_taps_;  // those that pair anything at all
};

using WindowRows = TapRows<false>;
using TransposedRows = TapRows<true>;

}  // namespace poprt::kernels
