#include <algorithm>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/window/pooling.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {
namespace {

struct AveragePoolPlan {
  std::int64_t planes = 0;
  WindowRows rows;
  std::size_t scratch_bytes = 0;
  /// How many taps count at every output position of every axis, at least 1.
  std::vector<std::vector<std::int64_t>> counts;
};

/// Taps inside the input or, when padding counts, inside the padded input. What ceil_mode lets hang
/// over the end padding never counts.
std::vector<std::int64_t> CountTaps(const PoolGeometry& geometry, std::size_t axis,
                                    bool include_pad) {
  const Window& w = geometry.window;
  const std::int64_t low = include_pad ? -w.pads_begin[axis] : 0;
  const std::int64_t high = geometry.input[axis] + (include_pad ? w.pads_end[axis] : 0);
  const std::int64_t dilation = w.dilations[axis];
  std::vector<std::int64_t> counts;
  for (std::int64_t o = 0; o < geometry.output[axis]; ++o) {
    const std::int64_t first = o * w.strides[axis] - w.pads_begin[axis];
    const std::int64_t begin = first >= low ? 0 : (low - first - 1) / dilation + 1;
    const std::int64_t end =
        first >= high ? 0 : std::min(w.kernel[axis], (high - first - 1) / dilation + 1);
    counts.push_back(std::max<std::int64_t>(1, end - begin));
  }
  return counts;
}

template <typename T, typename Acc>
void AddTap(const T* in, std::int64_t stride, std::int64_t count, Acc* sums) {
  const auto run = [&](std::int64_t step) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t x = 0; x < count; ++x) sums[x] += static_cast<Acc>(in[x * step]);
  };
  if (stride == 1) {
    run(1);
  } else if (stride == 2) {
    run(2);
  } else {
    run(stride);
  }
}

template <typename T>
void RunAveragePool(const AveragePoolPlan& plan, const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const WindowRows& rows = plan.rows;
  const std::int64_t width = rows.width();
  ForRanges(args.pool, plan.planes,
            GrainFor(rows.rows() * width * std::min<std::int64_t>(rows.taps(), 64)),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* sums = reinterpret_cast<Acc*>(args.scratch + static_cast<std::size_t>(worker) *
                                                                     plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const T* in = args.in<T>(0) + i * rows.input_plane();
                for (std::int64_t row = 0; row < rows.rows(); ++row) {
                  std::fill(sums, sums + width, Acc{});
                  rows.Visit(row, [&](const WindowRows::Tap& tap) {
                    AddTap(in + tap.offset + tap.begin * rows.stride(), rows.stride(),
                           tap.end - tap.begin, sums + tap.begin);
                  });
                  std::int64_t above = 1;
                  rows.VisitPosition(row, [&](std::size_t axis, std::int64_t at) {
                    above *= plan.counts[axis][static_cast<std::size_t>(at)];
                  });
                  const std::int64_t* counts = plan.counts.back().data();
                  T* out = args.out<T>(0) + (i * rows.rows() + row) * width;
                  for (std::int64_t x = 0; x < width; ++x) {
                    out[x] = static_cast<T>(sums[x] / static_cast<Acc>(above * counts[x]));
                  }
                }
              }
            });
}

}  // namespace

BoundKernel BindAveragePool(const KernelCall& call) {
  RequireArity(call, 1, 1);
  RequireElement(call.inputs[0], kFloatTypes, "input 0");
  const PoolGeometry geometry = CheckPool(call);
  const bool include_pad = FlagAttribute(call, "count_include_pad", false);
  if (geometry.empty) return NothingToRun();
  AveragePoolPlan plan{.planes = geometry.planes,
                       .rows = WindowRows(geometry.window, geometry.input, geometry.output),
                       .scratch_bytes = 0,
                       .counts = {}};
  for (std::size_t axis = 0; axis < geometry.output.size(); ++axis) {
    plan.counts.push_back(CountTaps(geometry, axis, include_pad));
  }
  return VisitElement<BoundKernel, kFloatTypes>(
      call.inputs[0].element, [&]<typename T>(std::type_identity<T>) {
        plan.scratch_bytes =
            ScratchBytes(static_cast<std::size_t>(geometry.output.back()) * sizeof(Accumulator<T>));
        return BoundKernel{
            .run = [plan](const KernelArguments& args) { RunAveragePool<T>(plan, args); },
            .scratch_bytes = plan.scratch_bytes};
      });
}

}  // namespace poprt::kernels
