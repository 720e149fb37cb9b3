#pragma once

#include <algorithm>
#include <type_traits>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/pooling.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {

/// The loop that all poolings with a window have in common: each output has an accumulator of type
/// Acc that takes the elements its window covers. Built at bind time.
template <typename Acc>
class PoolRows {
 public:
  /// `geometry` is not empty.
  explicit PoolRows(const PoolGeometry& geometry)
      : planes_(geometry.planes),
        rows_(geometry.window, geometry.input, geometry.output),
        scratch_bytes_(
            ScratchBytes(static_cast<std::size_t>(geometry.output.back()) * sizeof(Acc))) {}

  std::size_t scratch_bytes() const { return scratch_bytes_; }
  const WindowRows& window() const { return rows_; }

  /// For every output row: starts with `initial`, calls take(accumulator, element, its offset in
  /// the plane) for every tap, in the window's order, then finish(plane, row, accumulators).
  template <typename T, typename Take, typename Finish>
  void Run(const KernelArguments& args, const Acc& initial, const Take& take,
           const Finish& finish) const {
    const std::int64_t width = rows_.width();
    ForWideRanges<T>(args.pool, planes_ * rows_.rows(),
                     GrainFor(width * std::min<std::int64_t>(rows_.taps(), 64)),
                     [&](std::int64_t begin, std::int64_t end, int worker) {
                       auto* row = reinterpret_cast<Acc*>(
                           args.scratch + static_cast<std::size_t>(worker) * scratch_bytes_);
                       for (std::int64_t i = begin; i < end; ++i) {
                         const std::int64_t plane = i / rows_.rows();
                         const T* in = args.in<T>(0) + plane * rows_.input_plane();
                         std::fill(row, row + width, initial);
                         rows_.Visit(i % rows_.rows(), [&](const WindowRows::Tap& tap) {
                           TakeTap(tap, in, take, row);
                         });
                         finish(plane, i % rows_.rows(), static_cast<const Acc*>(row));
                       }
                     });
  }

 private:
  /// The usual strides are compiled in, so that their loops use vectors.
  template <typename T, typename Take>
  void TakeTap(const WindowRows::Tap& tap, const T* in, const Take& take, Acc* row) const {
    const auto run = [&](auto stride) {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t x = 0; x < tap.count; ++x) {
        const std::int64_t at = tap.in + x * stride;
        take(row[tap.out + x], in[at], at);
      }
    };
    if (rows_.stride() == 1) {
      run(std::integral_constant<std::int64_t, 1>{});
    } else if (rows_.stride() == 2) {
      run(std::integral_constant<std::int64_t, 2>{});
    } else {
      run(rows_.stride());
    }
  }

  std::int64_t planes_;
  WindowRows rows_;
  std::size_t scratch_bytes_;
};

}  // namespace poprt::kernels
