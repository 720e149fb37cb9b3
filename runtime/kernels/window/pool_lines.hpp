#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/pooling.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {

/// The loop of poolings whose result doesn't depend on where in the window an element is: the input
/// rows that a window covers are combined into one line, whose elements are combined along the last
/// axis. Built at bind time.
template <typename Acc>
class PoolLines {
 public:
  /// `geometry` is not empty.
  explicit PoolLines(const PoolGeometry& geometry)
      : planes_(geometry.planes),
        taps_(ElementCount(geometry.window.kernel)),
        kernel_(geometry.window.kernel.back()),
        stride_(geometry.window.strides.back()),
        dilation_(geometry.window.dilations.back()),
        pad_(geometry.window.pads_begin.back()),
        extent_(geometry.input.back()),
        width_(geometry.output.back()),
        lanes_(stride_ > 2 ? width_ : RoundedUp(width_)),
        plane_(ElementCount(geometry.input)),
        positions_(geometry.window, geometry.input, geometry.output),
        rows_(WholeRows(geometry.window), geometry.input, WholeOutput(geometry)),
        line_(std::max(lanes_ * stride_ + geometry.window.Reach(geometry.input.size() - 1),
                       pad_ + RoundedUp(extent_))),
        scratch_bytes_(ScratchBytes(static_cast<std::size_t>(rows_.taps()) * sizeof(std::int64_t) +
                                    static_cast<std::size_t>(line_ + lanes_) * sizeof(Acc))) {}

  std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// The rows of the output.
  const WindowRows& window() const { return positions_; }

  /// For every output row: combine(accumulator, accumulator), of which `neutral` changes nothing,
  /// folds map(element) over the window, then finish(plane, row, accumulators).
  template <typename T, typename Map, typename Combine, typename Finish>
  void Run(const KernelArguments& args, const Acc& neutral, const Map& map, const Combine& combine,
           const Finish& finish) const {
    ForWideRanges(args.pool, planes_ * rows_.rows(),
                  GrainFor(width_ * std::min<std::int64_t>(taps_, 64)),
                  [&](std::int64_t begin, std::int64_t end, int worker) {
                    auto* starts = reinterpret_cast<std::int64_t*>(
                        args.scratch + static_cast<std::size_t>(worker) * scratch_bytes_);
                    auto* line = reinterpret_cast<Acc*>(starts + rows_.taps());
                    for (std::int64_t i = begin; i < end; ++i) {
                      const std::int64_t row = i % rows_.rows();
                      const T* in = args.in<T>(0) + i / rows_.rows() * plane_;
                      CombineRows(in, row, neutral, map, combine, starts, line);
                      CombineLine(neutral, combine, line, line + line_);
                      finish(i / rows_.rows(), row, static_cast<const Acc*>(line + line_));
                    }
                  });
  }

 private:
  static constexpr std::int64_t kLanes = 16;

  static std::int64_t RoundedUp(std::int64_t count) {
    return (count + kLanes - 1) / kLanes * kLanes;
  }

  /// The window without its last axis.
  static Window WholeRows(Window window) {
    for (Ints* numbers : {&window.kernel, &window.strides, &window.dilations}) numbers->back() = 1;
    window.pads_begin.back() = 0;
    window.pads_end.back() = 0;
    return window;
  }

  static Shape WholeOutput(const PoolGeometry& geometry) {
    Shape output = geometry.output;
    output.back() = geometry.input.back();
    return output;
  }

  template <typename T, typename Map, typename Combine>
  void CombineRows(const T* in, std::int64_t row, const Acc& neutral, const Map& map,
                   const Combine& combine, std::int64_t* starts, Acc* line) const {
    std::fill(line, line + line_, neutral);
    // Visit calls itself, which keeps what it calls from being compiled for every instruction set.
    std::int64_t count = 0;
    rows_.Visit(row, [&](const WindowRows::Tap& tap) { starts[count++] = tap.in; });
    for (std::int64_t i = 0; i < count; ++i) {
      CombineRow(in + starts[i], neutral, map, combine, line + pad_);
    }
  }

  template <typename T, typename Map, typename Combine>
  void CombineRow(const T* from, const Acc& neutral, const Map& map, const Combine& combine,
                  Acc* to) const {
    std::int64_t x = 0;
    for (; x + kLanes <= extent_; x += kLanes) {
      POPRT_INDEPENDENT_LOOP
      POPRT_LANE_LOOP
      for (std::int64_t i = 0; i < kLanes; ++i) to[x + i] = combine(to[x + i], map(from[x + i]));
    }
    if (x == extent_) return;
    Acc rest[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) rest[i] = neutral;
    for (std::int64_t i = 0; x + i < extent_; ++i) rest[i] = map(from[x + i]);
    POPRT_INDEPENDENT_LOOP
    POPRT_LANE_LOOP
    for (std::int64_t i = 0; i < kLanes; ++i) to[x + i] = combine(to[x + i], rest[i]);
  }

  template <typename Combine>
  void CombineLine(const Acc& neutral, const Combine& combine, const Acc* line, Acc* row) const {
    std::fill(row, row + lanes_, neutral);
    for (std::int64_t k = 0; k < kernel_; ++k) {
      const Acc* from = line + k * dilation_;
      if (stride_ == 1) {
        CombineNeighbours<1>(from, combine, row);
      } else if (stride_ == 2) {
        CombineNeighbours<2>(from, combine, row);
      } else {
        for (std::int64_t x = 0; x < lanes_; ++x) row[x] = combine(row[x], from[x * stride_]);
      }
    }
  }

  /// Of the usual strides, with vectors. From a copy, of which g++ knows that nothing is behind it.
  template <std::int64_t kStride, typename Combine>
  POPRT_INLINE void CombineNeighbours(const Acc* from, const Combine& combine, Acc* row) const {
    for (std::int64_t x = 0; x < lanes_; x += kLanes) {
      Acc values[kLanes * kStride];
      std::copy_n(from + x * kStride, kLanes * kStride, values);
      POPRT_INDEPENDENT_LOOP
      POPRT_LANE_LOOP
      for (std::int64_t i = 0; i < kLanes; ++i) {
        row[x + i] = combine(row[x + i], values[i * kStride]);
      }
    }
  }

  std::int64_t planes_;
  std::int64_t taps_;
  std::int64_t kernel_;  // along the last axis, as are the next six
  std::int64_t stride_;
  std::int64_t dilation_;
  std::int64_t pad_;
  std::int64_t extent_;  // of the input
  std::int64_t width_;   // of the output
  std::int64_t lanes_;   // the width, with usual strides rounded up for loops without a rest
  std::int64_t plane_;
  WindowRows positions_;
  WindowRows rows_;
  std::int64_t line_;  // elements of a padded line
  std::size_t scratch_bytes_;
};

}  // namespace poprt::kernels
