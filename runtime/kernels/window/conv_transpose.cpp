#include <algorithm>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

struct TransposePlan {
  ConvolutionOperands operands;
  Window window;
  Shape output;
  Shape input_strides;
  std::int64_t in_plane = 0;
  std::int64_t out_rows = 0;
  std::int64_t taps = 0;
  std::size_t scratch_bytes = 0;
};

/// Adds to a row of sums what the taps along the last axis bring: input x goes to output
/// x * stride + k * dilation - pad.
template <typename T, typename Acc>
void AddRow(const TransposePlan& plan, const T* in, const T* weights, Acc* sums) {
  const Window& w = plan.window;
  const std::size_t last = plan.output.size() - 1;
  const std::int64_t stride = w.strides[last];
  for (std::int64_t k = 0; k < w.kernel[last]; ++k) {
    const std::int64_t offset = k * w.dilations[last] - w.pads_begin[last];
    const std::int64_t left = plan.output[last] - offset;
    const std::int64_t begin = offset >= 0 ? 0 : (-offset - 1) / stride + 1;
    const std::int64_t end =
        std::min(plan.operands.input_spatial[last], left <= 0 ? 0 : (left - 1) / stride + 1);
    const Acc weight = static_cast<Acc>(weights[k]);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t x = begin; x < end; ++x) {
      sums[offset + x * stride] += weight * static_cast<Acc>(in[x]);
    }
  }
}

/// Finds the input rows that reach output row `row` (a position in the axes before the last one)
/// and adds them. The recursion is as deep as there are spatial axes.
template <typename T, typename Acc>
void AddAxis(const TransposePlan& plan, std::size_t axis, std::int64_t row, std::int64_t rows,
             const T* in, const T* weights, std::int64_t taps, Acc* sums) {
  if (axis + 1 == plan.output.size()) {
    AddRow(plan, in, weights, sums);
    return;
  }
  const Window& w = plan.window;
  rows /= plan.output[axis];
  taps /= w.kernel[axis];
  for (std::int64_t k = 0; k < w.kernel[axis]; ++k) {
    const std::int64_t at = row / rows + w.pads_begin[axis] - k * w.dilations[axis];
    if (at < 0 || at % w.strides[axis] != 0) continue;
    const std::int64_t from = at / w.strides[axis];
    if (from >= plan.operands.input_spatial[axis]) continue;
    AddAxis(plan, axis + 1, row % rows, rows, in + from * plan.input_strides[axis],
            weights + k * taps, taps, sums);
  }
}

template <typename T>
void RunTranspose(const TransposePlan& plan, const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const ConvolutionOperands& o = plan.operands;
  const std::int64_t in_group = o.in_channels / o.groups;
  const std::int64_t out_group = o.out_channels / o.groups;
  const std::int64_t width = plan.output.back();
  const T* bias = args.inputs.size() > 2 ? args.in<T>(2) : nullptr;
  ForRanges(args.pool, o.batch * o.out_channels, 1,
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* sums = reinterpret_cast<Acc*>(args.scratch + static_cast<std::size_t>(worker) *
                                                                     plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t image = i / o.out_channels;
                const std::int64_t channel = i % o.out_channels;
                const std::int64_t first = channel / out_group * in_group;
                for (std::int64_t row = 0; row < plan.out_rows; ++row) {
                  std::fill(sums, sums + width, Acc{});
                  for (std::int64_t c = first; c < first + in_group; ++c) {
                    AddAxis(plan, 0, row, plan.out_rows,
                            args.in<T>(0) + (image * o.in_channels + c) * plan.in_plane,
                            args.in<T>(1) + (c * out_group + channel % out_group) * plan.taps,
                            plan.taps, sums);
                  }
                  const Acc base = bias == nullptr ? Acc{} : static_cast<Acc>(bias[channel]);
                  T* to = args.out<T>(0) + (i * plan.out_rows + row) * width;
                  for (std::int64_t x = 0; x < width; ++x) to[x] = static_cast<T>(sums[x] + base);
                }
              }
            });
}

}  // namespace

BoundKernel BindConvTranspose(const KernelCall& call) {
  TransposePlan plan;
  plan.operands = CheckConvolution(call, true);
  const ConvolutionOperands& o = plan.operands;
  const TransposedWindow geometry =
      ResolveTransposedWindow(call.attributes, o.input_spatial, o.kernel);
  plan.window = geometry.window;
  plan.output = geometry.output;
  TensorType wanted{call.inputs[0].element, {o.batch, o.out_channels}};
  wanted.shape.insert(wanted.shape.end(), plan.output.begin(), plan.output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  plan.input_strides = Strides(o.input_spatial);
  plan.in_plane = ElementCount(o.input_spatial);
  plan.taps = ElementCount(o.kernel);
  plan.out_rows = ElementCount(plan.output) / plan.output.back();
  return VisitElement<BoundKernel, kFloatTypes>(wanted.element, [&]<typename T>(
                                                                    std::type_identity<T>) {
    plan.scratch_bytes =
        ScratchBytes(static_cast<std::size_t>(plan.output.back()) * sizeof(Accumulator<T>));
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunTranspose<T>(plan, args); },
                       .scratch_bytes = plan.scratch_bytes};
  });
}

}  // namespace poprt::kernels
