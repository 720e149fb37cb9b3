#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/plane_tasks.hpp"
#include "runtime/kernels/blocked/window_areas.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

struct PoolSizes {
  BlockedImage in;
  BlockedImage out;
  Window window;
  std::int64_t taps;
};

PoolSizes CheckBlockedPool(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const BlockedImage in = RequireBlockedImage(call.inputs[0], "input 0");
  const Ints kernel = RequireKernelShape(call.attributes);
  Window window = ResolveWindow(call.attributes, {in.height, in.width}, kernel);
  const Shape extents =
      WindowOutputExtents(window, {in.height, in.width}, FlagAttribute(call, "ceil_mode", false));
  const BlockedImage out{in.batch, in.blocks, extents[0], extents[1]};
  RequireType(call.outputs[0],
              {ElementType::kFloat32, {out.batch, out.blocks, out.height, out.width, kBlock}},
              "output 0");
  RequireSmallOffsets(window, in.height, in.width);
  const auto taps = CheckedElementCount(kernel);
  Require(taps.has_value(), "the window is too large");
  return {.in = in, .out = out, .window = std::move(window), .taps = *taps};
}

struct BlockedPool {
  explicit BlockedPool(const PoolSizes& s)
      : in(s.in), out(s.out), window(s.window), areas(window, in, out), tasks(out, s.taps) {}

  /// Calls f(x, y, first row, one past the last row) for parts of all blocks of the image, which
  /// begin at x and y.
  template <typename F>
  void Run(const KernelArguments& args, const F& f) const {
    tasks.Run(*args.pool, [&](std::int64_t plane, std::int64_t first_row, std::int64_t last_row) {
      f(args.in<float>(0) + plane * in.BlockFloats(),
        args.out<float>(0) + plane * out.BlockFloats(), first_row, last_row);
    });
  }

  BlockedImage in;
  BlockedImage out;
  Window window;
  WindowAreas areas;
  PlaneTasks tasks;
};

struct BlockedMaxPool {
  static constexpr std::int64_t kOften = 3;

  BlockedPool pool;
  const ConvMicroKernels* kernels;
  /// Each input at several taps: looking for NaN once costs less than minding it at all of them.
  bool reads_often;

  void Run(const KernelArguments& args) const {
    const std::int64_t row_floats = pool.in.width * kBlock;
    pool.Run(args, [&](const float* x, float* y, std::int64_t first, std::int64_t last) {
      const RowRange rows = InputRows(pool.window, pool.in.height, first, last);
      const bool minds_nan = !reads_often || kernels->holds_nan(x + rows.first * row_floats,
                                                                rows.count() * row_floats);
      const auto maximum = minds_nan ? kernels->maximum_or_nan : kernels->maximum;
      pool.areas.ForAreas(first, last, x, y,
                          [maximum](const WindowArea& area, const TapSpan& /*rows*/,
                                    const TapSpan& /*columns*/) { maximum(area); });
    });
  }
};

/// How many taps count at each output position of an axis, at least 1. What ceil_mode lets hang
/// over the end padding never counts, other padding does when `include_pad`.
std::vector<float> CountTaps(const Window& w, std::size_t axis, std::int64_t in_extent,
                             std::int64_t out_extent, bool include_pad) {
  const std::int64_t low = include_pad ? -w.pads_begin[axis] : 0;
  const std::int64_t high = in_extent + (include_pad ? w.pads_end[axis] : 0);
  const std::int64_t dilation = w.dilations[axis];
  std::vector<float> counts;
  for (std::int64_t o = 0; o < out_extent; ++o) {
    const std::int64_t first = o * w.strides[axis] - w.pads_begin[axis];
    const std::int64_t begin = first >= low ? 0 : (low - first - 1) / dilation + 1;
    const std::int64_t end =
        first >= high ? 0 : std::min(w.kernel[axis], (high - first - 1) / dilation + 1);
    counts.push_back(static_cast<float>(std::max<std::int64_t>(1, end - begin)));
  }
  return counts;
}

struct BlockedAveragePool {
  BlockedPool pool;
  const ConvMicroKernels* kernels;
  std::vector<float> row_counts;
  std::vector<float> column_counts;

  void Run(const KernelArguments& args) const {
    pool.Run(args, [&](const float* x, float* y, std::int64_t first, std::int64_t last) {
      pool.areas.ForAreas(first, last, x, y,
                          [&](const WindowArea& area, const TapSpan& rows, const TapSpan& columns) {
                            RunAverages(area, rows, columns);
                          });
    });
  }

  /// Pixels of one area have the same number of taps, unless padding counts.
  void RunAverages(const WindowArea& area, const TapSpan& rows, const TapSpan& columns) const {
    const float* const row_count = row_counts.data() + rows.begin;
    const float* const column_count = column_counts.data() + columns.begin;
    const float* const line_count = area.lines_are_columns ? column_count : row_count;
    const float* const pixel_count = area.lines_are_columns ? row_count : column_count;
    const auto next = [](const float* counts, std::int64_t at, std::int64_t end) {
      std::int64_t i = at + 1;
      while (i < end && counts[i] == counts[at]) ++i;
      return i;
    };
    for (std::int64_t line = 0; line < area.lines;) {
      const std::int64_t line_end = next(line_count, line, area.lines);
      for (std::int64_t pixel = 0; pixel < area.pixels;) {
        const std::int64_t pixel_end = next(pixel_count, pixel, area.pixels);
        WindowArea part = area;
        part.x += line * area.x_line + pixel * area.x_pixel;
        part.y += line * area.y_line + pixel * area.y_pixel;
        part.lines = line_end - line;
        part.pixels = pixel_end - pixel;
        kernels->average(part, 1.0F / (line_count[line] * pixel_count[pixel]));
        pixel = pixel_end;
      }
      line = line_end;
    }
  }
};

}  // namespace

BoundKernel BindBlockedMaxPool(const KernelCall& call, const ConvMicroKernels& kernels) {
  const PoolSizes sizes = CheckBlockedPool(call);
  const Ints& strides = sizes.window.strides;
  const auto pool = std::make_shared<BlockedMaxPool>(BlockedMaxPool{
      .pool = BlockedPool(sizes),
      .kernels = &kernels,
      .reads_often = sizes.taps / strides[0] / strides[1] >= BlockedMaxPool::kOften});
  const Ints block_sizes = pool->pool.tasks.Cut(call.attributes);
  return {.run = [pool](const KernelArguments& args) { pool->Run(args); },
          .block_sizes = block_sizes};
}

BoundKernel BindBlockedAveragePool(const KernelCall& call, const ConvMicroKernels& kernels) {
  const PoolSizes sizes = CheckBlockedPool(call);
  const bool include_pad = FlagAttribute(call, "count_include_pad", false);
  const auto average = std::make_shared<BlockedAveragePool>(BlockedAveragePool{
      .pool = BlockedPool(sizes),
      .kernels = &kernels,
      .row_counts = CountTaps(sizes.window, 0, sizes.in.height, sizes.out.height, include_pad),
      .column_counts = CountTaps(sizes.window, 1, sizes.in.width, sizes.out.width, include_pad)});
  const Ints block_sizes = average->pool.tasks.Cut(call.attributes);
  return {.run = [average](const KernelArguments& args) { average->Run(args); },
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
