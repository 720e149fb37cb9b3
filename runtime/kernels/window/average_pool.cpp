#include <algorithm>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/window/pool_lines.hpp"

namespace poprt::kernels {
namespace {

/// How many taps count at every output position of every axis, at least 1.
using TapCounts = std::vector<std::vector<std::int64_t>>;

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

template <typename T>
void RunAveragePool(const PoolLines<Accumulator<T>>& lines, const TapCounts& counts,
                    const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const WindowRows& window = lines.window();
  lines.template Run<T>(
      args, Acc{}, [](T element) { return static_cast<Acc>(element); },
      [](Acc a, Acc b) { return a + b; },
      [&](std::int64_t row, const Acc* sums) {
        std::int64_t above = 1;
        window.VisitPosition(row % window.rows(), [&](std::size_t axis, std::int64_t at) {
          above *= counts[axis][static_cast<std::size_t>(at)];
        });
        const std::int64_t* last = counts.back().data();
        T* out = args.out<T>(0) + row * window.width();
        for (std::int64_t x = 0; x < window.width(); ++x) {
          out[x] = static_cast<T>(sums[x] / static_cast<Acc>(above * last[x]));
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
  TapCounts counts;
  for (std::size_t axis = 0; axis < geometry.output.size(); ++axis) {
    counts.push_back(CountTaps(geometry, axis, include_pad));
  }
  return VisitElement<BoundKernel, kFloatTypes>(
      call.inputs[0].element, [&]<typename T>(std::type_identity<T>) {
        const PoolLines<Accumulator<T>> lines(geometry);
        return BoundKernel{
            .run = [lines, counts](
                       const KernelArguments& args) { RunAveragePool<T>(lines, counts, args); },
            .scratch_bytes = lines.scratch_bytes()};
      });
}

}  // namespace poprt::kernels
