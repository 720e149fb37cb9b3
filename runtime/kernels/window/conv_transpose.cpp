#include <algorithm>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {
namespace {

struct TransposePlan {
  ConvolutionOperands operands;
  TransposedRows rows;
  std::size_t scratch_bytes = 0;
};

template <typename T>
void RunTranspose(const TransposePlan& plan, const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const ConvolutionOperands& o = plan.operands;
  const TransposedRows& rows = plan.rows;
  const std::int64_t in_group = o.in_channels / o.groups;
  const std::int64_t out_group = o.out_channels / o.groups;
  const std::int64_t width = rows.width();
  const std::int64_t stride = rows.stride();
  const T* bias = args.inputs.size() > 2 ? args.in<T>(2) : nullptr;
  ForWideRanges<Acc>(
      args.pool, o.batch * o.out_channels * rows.rows(),
      GrainFor(width * in_group * std::min<std::int64_t>(rows.taps(), 64)),
      [&](std::int64_t begin, std::int64_t end, int worker) {
        auto* sums = reinterpret_cast<Acc*>(args.scratch +
                                            static_cast<std::size_t>(worker) * plan.scratch_bytes);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t image = i / rows.rows() / o.out_channels;
          const std::int64_t channel = i / rows.rows() % o.out_channels;
          const std::int64_t first = channel / out_group * in_group;
          std::fill(sums, sums + width, Acc{});
          for (std::int64_t c = first; c < first + in_group; ++c) {
            const T* in = args.in<T>(0) + (image * o.in_channels + c) * rows.input_plane();
            const T* weights = args.in<T>(1) + (c * out_group + channel % out_group) * rows.taps();
            rows.Visit(i % rows.rows(), [&](const TransposedRows::Tap& tap) {
              const Acc weight = static_cast<Acc>(weights[tap.index]);
              POPRT_INDEPENDENT_LOOP
              for (std::int64_t x = 0; x < tap.count; ++x) {
                sums[tap.out + x * stride] += weight * static_cast<Acc>(in[tap.in + x]);
              }
            });
          }
          const Acc base = bias == nullptr ? Acc{} : static_cast<Acc>(bias[channel]);
          T* to = args.out<T>(0) + i * width;
          for (std::int64_t x = 0; x < width; ++x) to[x] = static_cast<T>(sums[x] + base);
        }
      });
}

}  // namespace

BoundKernel BindConvTranspose(const KernelCall& call) {
  const ConvolutionOperands operands = CheckConvolution(call, true);
  const TransposedWindow geometry =
      ResolveTransposedWindow(call.attributes, operands.input_spatial, operands.kernel);
  TensorType wanted{call.inputs[0].element, {operands.batch, operands.out_channels}};
  wanted.shape.insert(wanted.shape.end(), geometry.output.begin(), geometry.output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  return VisitElement<BoundKernel, kFloatTypes>(wanted.element, [&]<typename T>(
                                                                    std::type_identity<T>) {
    const std::size_t scratch =
        ScratchBytes(static_cast<std::size_t>(geometry.output.back()) * sizeof(Accumulator<T>));
    const TransposePlan plan{
        operands, TransposedRows(geometry.window, operands.input_spatial, geometry.output),
        scratch};
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunTranspose<T>(plan, args); },
                       .scratch_bytes = scratch};
  });
}

}  // namespace poprt::kernels
