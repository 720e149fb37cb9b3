#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/pooling.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {

/// The loop of poolings whose result doesn't depend on where in the window an element is. A window
/// is combined axis by axis: the slices of the input that it covers along the first axis become one
/// slice, and so do the slices of that along the second axis, until one line is left, whose
/// elements are combined along the last axis. What the windows of neighbouring outputs have in
/// common is combined once. Built at bind time.
template <typename Acc>
class PoolLines {
 public:
  /// `geometry` is not empty.
  explicit PoolLines(const PoolGeometry& geometry)
      : taps_(ElementCount(geometry.window.kernel)),
        kernel_(geometry.window.kernel.back()),
        stride_(geometry.window.strides.back()),
        dilation_(geometry.window.dilations.back()),
        pad_(geometry.window.pads_begin.back()),
        width_(geometry.output.back()),
        lanes_(stride_ > 2 ? width_ : RoundedUp(width_)),
        line_(std::max(lanes_ * stride_ + geometry.window.Reach(geometry.input.size() - 1),
                       pad_ + RoundedUp(geometry.input.back()))),
        together_(line_ <= kShortLine ? kShortLines : 1),
        window_(geometry.window, geometry.input, geometry.output),
        rows_(geometry.planes * window_.rows()) {
    std::int64_t rows = window_.rows();
    for (std::size_t axis = 0; axis + 1 < geometry.input.size(); ++axis) {
      rows /= geometry.output[axis];
      const auto rest = geometry.input.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
      const std::int64_t slice = ElementCount(Shape(rest, geometry.input.end()));
      const Level level{.kernel = geometry.window.kernel[axis],
                        .stride = geometry.window.strides[axis],
                        .dilation = geometry.window.dilations[axis],
                        .pad = geometry.window.pads_begin[axis],
                        .extent = geometry.input[axis],
                        .positions = geometry.output[axis],
                        .slice = slice,
                        .rows = rows};
      // Slices of which each is a window are tensors of their own.
      if (!levels_.empty() || !level.IsIdentity()) levels_.push_back(level);
    }
    if (levels_.empty()) levels_.push_back({.slice = geometry.input.back()});
    for (Level& level : levels_) {
      level.combined = lines_offset_;
      if (&level != &levels_.back()) lines_offset_ += RoundedUp(level.slice);
    }
    levels_.back().combined += pad_;
    scratch_bytes_ =
        PositionBytes() + ScratchBytes(static_cast<std::size_t>(lines_offset_ + together_ * line_ +
                                                                lanes_ + 2 * HalfLine()) *
                                       sizeof(Acc));
  }

  std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// The rows of the output.
  const WindowRows& window() const { return window_; }

  /// For every output row: combine(accumulator, accumulator), of which `neutral` changes nothing,
  /// folds map(element) over the window, then finish(row, accumulators).
  template <typename T, typename Map, typename Combine, typename Finish>
  void Run(const KernelArguments& args, const Acc& neutral, const Map& map, const Combine& combine,
           const Finish& finish) const {
    // Ranges begin where the first axis moves.
    const std::int64_t per_slice = levels_.front().rows;
    const std::int64_t grain = GrainFor(per_slice * width_ * std::min<std::int64_t>(taps_, 64));
    ForWideRanges<T>(
        args.pool, rows_ / per_slice, grain, [&](std::int64_t begin, std::int64_t end, int worker) {
          std::byte* const own = args.scratch + static_cast<std::size_t>(worker) * scratch_bytes_;
          auto* const positions = reinterpret_cast<std::int64_t*>(own);
          auto* const scratch = reinterpret_cast<Acc*>(own + PositionBytes());
          std::fill(scratch + lines_offset_, scratch + lines_offset_ + together_ * line_, neutral);
          std::fill_n(positions, levels_.size(), 0);
          std::int64_t waiting = 0;
          std::size_t moved = 0;
          for (std::int64_t row = begin * per_slice; row < end * per_slice; ++row) {
            if (moved == 0) {
              CombineFirst(args.in<T>(0), row / per_slice, neutral, map, combine, scratch, waiting);
            }
            CombineFrom(moved, positions, neutral, combine, scratch, waiting);
            moved = Advance(positions);
            if (++waiting < together_ && row + 1 < end * per_slice) continue;
            Acc* const line = scratch + lines_offset_;
            Acc* const sums = line + together_ * line_;
            for (std::int64_t i = 0; i < waiting; ++i) {
              CombineLine(combine, line + i * line_, sums);
              finish(row + 1 - waiting + i, static_cast<const Acc*>(sums));
            }
            waiting = 0;
          }
        });
  }

 private:
  static constexpr std::int64_t kLanes = 16;
  static constexpr std::int64_t kShortLine = 512;
  static constexpr std::int64_t kShortLines = 8;

  /// One axis but the last.
  struct Level {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad = 0;
    std::int64_t extent = 1;     // of the input
    std::int64_t positions = 1;  // of the output
    std::int64_t slice = 1;      // elements behind one position of the input
    std::int64_t rows = 1;       // of the output behind one of its positions
    std::int64_t combined = 0;   // where in the scratch the combined slice is

    bool IsIdentity() const {
      return kernel == 1 && stride == 1 && pad == 0 && extent == positions;
    }
  };

  static std::int64_t RoundedUp(std::int64_t count) {
    return (count + kLanes - 1) / kLanes * kLanes;
  }

  std::size_t PositionBytes() const { return ScratchBytes(levels_.size() * sizeof(std::int64_t)); }

  /// Moves on by one row; gives the outermost level that moves.
  std::size_t Advance(std::int64_t* positions) const {
    for (std::size_t i = levels_.size(); i-- > 1;) {
      if (++positions[i] < levels_[i].positions) return i;
      positions[i] = 0;
    }
    return 0;
  }

  /// Where the slices of a level are combined, the lines of the last level in turn.
  Acc* CombinedOf(const Level& level, Acc* scratch, std::int64_t line) const {
    return scratch + level.combined + (&level == &levels_.back() ? line * line_ : 0);
  }

  template <typename T, typename Map, typename Combine>
  void CombineFirst(const T* tensor, std::int64_t slice, const Acc& neutral, const Map& map,
                    const Combine& combine, Acc* scratch, std::int64_t line) const {
    const Level& level = levels_.front();
    const T* plane = tensor + slice / level.positions * level.extent * level.slice;
    CombineLevel(level, plane, slice % level.positions, neutral, map, combine,
                 CombinedOf(level, scratch, line));
  }

  /// Combines the slices of the levels from `moved` on, but of the first.
  template <typename Combine>
  void CombineFrom(std::size_t moved, const std::int64_t* positions, const Acc& neutral,
                   const Combine& combine, Acc* scratch, std::int64_t line) const {
    for (std::size_t i = std::max<std::size_t>(moved, 1); i < levels_.size(); ++i) {
      CombineLevel(
          levels_[i], static_cast<const Acc*>(scratch + levels_[i - 1].combined), positions[i],
          neutral, [](Acc value) { return value; }, combine, CombinedOf(levels_[i], scratch, line));
    }
  }

  template <typename T, typename Map, typename Combine>
  void CombineLevel(const Level& level, const T* from, std::int64_t position, const Acc& neutral,
                    const Map& map, const Combine& combine, Acc* to) const {
    const std::int64_t start = position * level.stride - level.pad;
    // The taps inside the input.
    const std::int64_t begin = start < 0 ? (-start - 1) / level.dilation + 1 : 0;
    const std::int64_t left = level.extent - start;
    const std::int64_t end =
        left <= 0 ? 0 : std::min(level.kernel, (left - 1) / level.dilation + 1);
    if (begin >= end) {
      std::fill(to, to + level.slice, neutral);
      return;
    }
    const T* slices = from + (start + begin * level.dilation) * level.slice;
    const std::int64_t step = level.dilation * level.slice;
    const auto combine_at = [&](std::int64_t first) {
      CombineLanes(
          end - begin, [&](std::int64_t k) { return slices + k * step + first; }, map, combine,
          to + first);
    };
    std::int64_t i = 0;
    for (; i + kLanes <= level.slice; i += kLanes) {
      combine_at(i);
    }
    if (i == level.slice) return;
    if (i > 0) return combine_at(level.slice - kLanes);
    for (; i < level.slice; ++i) {
      Acc sum = map(slices[i]);
      for (std::int64_t k = 1; k < end - begin; ++k) sum = combine(sum, map(slices[k * step + i]));
      to[i] = sum;
    }
  }

  /// to[i] for kLanes lanes i from tap_at(k)[i] for all taps k.
  template <typename TapAt, typename Map, typename Combine>
  POPRT_INLINE static void CombineLanes(std::int64_t taps, const TapAt& tap_at, const Map& map,
                                        const Combine& combine, Acc* to) {
    Acc sums[kLanes];
    const auto* const first = tap_at(0);
    POPRT_LANE_LOOP
    for (std::int64_t i = 0; i < kLanes; ++i) sums[i] = map(first[i]);
    for (std::int64_t k = 1; k < taps; ++k) {
      const auto* const x = tap_at(k);
      POPRT_LANE_LOOP
      for (std::int64_t i = 0; i < kLanes; ++i) sums[i] = combine(sums[i], map(x[i]));
    }
    std::copy_n(sums, kLanes, to);
  }

  /// Behind `row` there is room for halves of the line.
  template <typename Combine>
  void CombineLine(const Combine& combine, const Acc* line, Acc* row) const {
    if (stride_ == 1) {
      return CombineNeighbours(
          combine, [&](std::int64_t k) { return line + k * dilation_; }, row);
    }
    if (stride_ == 2) {
      // Even and odd elements apart are neighbours.
      Acc* const even = row + lanes_;
      Acc* const odd = even + HalfLine();
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < line_ / 2; ++i) {
        even[i] = line[2 * i];
        odd[i] = line[2 * i + 1];
      }
      if (line_ % 2 != 0) even[line_ / 2] = line[line_ - 1];
      return CombineNeighbours(
          combine,
          [&](std::int64_t k) { return (k * dilation_ % 2 == 0 ? even : odd) + k * dilation_ / 2; },
          row);
    }
    for (std::int64_t x = 0; x < lanes_; ++x) {
      const Acc* from = line + x * stride_;
      Acc sum = *from;
      for (std::int64_t k = 1; k < kernel_; ++k) sum = combine(sum, from[k * dilation_]);
      row[x] = sum;
    }
  }

  /// Tap k of output x is tap_at(k)[x]; of all lanes these lie within the line.
  template <typename TapAt, typename Combine>
  void CombineNeighbours(const Combine& combine, const TapAt& tap_at, Acc* row) const {
    for (std::int64_t x = 0; x < lanes_; x += kLanes) {
      CombineLanes(
          kernel_, [&](std::int64_t k) { return tap_at(k) + x; }, [](Acc value) { return value; },
          combine, row + x);
    }
  }

  std::int64_t HalfLine() const { return stride_ == 2 ? (line_ + 1) / 2 : 0; }

  std::int64_t taps_;
  std::int64_t kernel_;  // along the last axis, as are the next three
  std::int64_t stride_;
  std::int64_t dilation_;
  std::int64_t pad_;
  std::int64_t width_;  // of the output
  std::int64_t lanes_;  // the width, with usual strides rounded up for loops without a rest
  std::int64_t line_;   // elements of a padded line
  // Lines that wait until they are combined: what was just stored is slow to load in other pieces.
  std::int64_t together_;
  WindowRows window_;
  std::int64_t rows_;  // of the output
  std::vector<Level> levels_;
  // In the scratch: slices stand before the lines; results behind, and halves of a line.
  std::int64_t lines_offset_ = 0;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace poprt::kernels
