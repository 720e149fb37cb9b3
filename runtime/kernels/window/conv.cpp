#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/padded_conv.hpp"

namespace poprt::kernels {
namespace {

template <typename T>
void RunConv(const PaddedConv& conv, std::size_t scratch_bytes, std::int64_t in_plane,
             std::int64_t in_width, std::int64_t out_plane, const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const std::int64_t out_channels = conv.extents().groups * conv.extents().per_group;
  const T* bias = args.inputs.size() > 2 ? args.in<T>(2) : nullptr;
  const auto load_row = [&](std::int64_t image, std::int64_t row, std::int64_t n, Acc* to) {
    const T* from = args.in<T>(0) + image * in_plane + row * in_width;
    for (std::int64_t x = 0; x < n; ++x) to[x] = static_cast<Acc>(from[x]);
  };
  const auto load_weights = [&](std::int64_t channel, std::int64_t stride, Acc* to) {
    const T* from = args.in<T>(1) + channel * conv.sums();
    for (std::int64_t t = 0; t < conv.sums(); ++t) to[t * stride] = static_cast<Acc>(from[t]);
  };
  const auto store = [&](std::int64_t image, std::int64_t channel, std::int64_t position,
                         std::int64_t n, const Acc* sums) {
    const Acc base = bias == nullptr ? Acc{} : static_cast<Acc>(bias[channel]);
    T* to = args.out<T>(0) + (image * out_channels + channel) * out_plane + position;
    for (std::int64_t x = 0; x < n; ++x) to[x] = static_cast<T>(sums[x] + base);
  };
  ForWideRanges(args.pool, conv.tasks(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    std::byte* scratch = args.scratch + static_cast<std::size_t>(worker) * scratch_bytes;
    for (std::int64_t task = begin; task < end; ++task) {
      conv.RunTask<Acc, Acc>(task, scratch, load_row, load_weights, store);
    }
  });
}

}  // namespace

BoundKernel BindConv(const KernelCall& call) {
  const ConvolutionOperands operands = CheckConvolution(call, false);
  const Window window = ResolveWindow(call.attributes, operands.input_spatial, operands.kernel);
  const Shape output = WindowOutputExtents(window, operands.input_spatial, false);
  TensorType wanted{call.inputs[0].element, {operands.batch, operands.out_channels}};
  wanted.shape.insert(wanted.shape.end(), output.begin(), output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  const PaddedConv conv({.batch = operands.batch,
                         .groups = operands.groups,
                         .depth = operands.in_channels / operands.groups,
                         .per_group = operands.out_channels / operands.groups},
                        window, operands.input_spatial, output);
  const std::int64_t in_plane = ElementCount(operands.input_spatial);
  const std::int64_t in_width = operands.input_spatial.back();
  const std::int64_t out_plane = ElementCount(output);
  return VisitElement<BoundKernel, kFloatTypes>(
      wanted.element, [&]<typename T>(std::type_identity<T>) {
        const std::size_t scratch =
            conv.ScratchBytes(sizeof(Accumulator<T>), sizeof(Accumulator<T>));
        return BoundKernel{.run =
                               [=](const KernelArguments& args) {
                                 RunConv<T>(conv, scratch, in_plane, in_width, out_plane, args);
                               },
                           .scratch_bytes = scratch};
      });
}

}  // namespace poprt::kernels
