#include <utility>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/channel_tiles.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/padded_conv.hpp"

namespace poprt::kernels {
namespace {

/// How PaddedConv reads, computes and writes elements of type T.
template <typename T>
struct ConvWork {
  using Acc = Accumulator<T>;
  static constexpr std::int64_t kLanes = kChannelLanes;

  void LoadRow(std::int64_t image, std::int64_t row, std::int64_t n, Acc* to) const {
    const T* from = x + image * in_plane + row * in_width;
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<Acc>(from[i]);
  }

  void LoadWeights(std::int64_t channel, Acc* to) const {
    const T* from = weights + channel * sums;
    for (std::int64_t t = 0; t < sums; ++t) to[t] = static_cast<Acc>(from[t]);
  }

  POPRT_INLINE void Multiply(std::int64_t rows, std::int64_t lanes, const Acc* in,
                             const std::int64_t* offsets, const Acc* factors, std::int64_t count,
                             Acc* out, std::int64_t pitch) const {
    MultiplyChannels(
        rows, lanes, in, [offsets](std::int64_t t) { return offsets[t]; }, factors, count, out,
        pitch);
  }

  void Store(std::int64_t image, std::int64_t channel, std::int64_t position,
             const PaddedConv::Rows& rows, const Acc* line, const Acc* /*extra*/) const {
    const Acc base = bias == nullptr ? Acc{} : static_cast<Acc>(bias[channel]);
    T* to = y + (image * out_channels + channel) * out_plane + position;
    for (std::int64_t r = 0; r < rows.count; ++r, line += rows.pitch, to += rows.width) {
      for (std::int64_t i = 0; i < rows.width; ++i) to[i] = static_cast<T>(line[i] + base);
    }
  }

  const T* x;
  const T* weights;
  const T* bias;  // null: none
  T* y;
  std::int64_t in_plane;
  std::int64_t in_width;
  std::int64_t out_plane;
  std::int64_t out_channels;
  std::int64_t sums;
  Acc padding = {};
  std::int64_t extra = 0;
};

}  // namespace

BoundKernel BindConv(const KernelCall& call) {
  const ConvolutionOperands operands = CheckConvolution(call, false);
  const Window window = ResolveWindow(call.attributes, operands.input_spatial, operands.kernel);
  const Shape output = WindowOutputExtents(window, operands.input_spatial, false);
  TensorType wanted{call.inputs[0].element, {operands.batch, operands.out_channels}};
  wanted.shape.insert(wanted.shape.end(), output.begin(), output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  PaddedConv conv({.batch = operands.batch,
                   .groups = operands.groups,
                   .depth = operands.in_channels / operands.groups,
                   .per_group = operands.out_channels / operands.groups},
                  window, operands.input_spatial, output);
  const std::int64_t in_plane = ElementCount(operands.input_spatial);
  const std::int64_t in_width = operands.input_spatial.back();
  const std::int64_t out_plane = ElementCount(output);
  const std::int64_t out_channels = operands.out_channels;
  return VisitElement<BoundKernel, kFloatTypes>(wanted.element, [&]<typename T>(
                                                                    std::type_identity<T>) {
    using Acc = Accumulator<T>;
    const std::size_t scratch_bytes = conv.ScratchBytes(sizeof(Acc), sizeof(Acc));
    auto run = [=, conv = std::move(conv)](const KernelArguments& args) {
      conv.Run<Acc, Acc>(args, ConvWork<T>{.x = args.in<T>(0),
                                           .weights = args.in<T>(1),
                                           .bias = args.inputs.size() > 2 ? args.in<T>(2) : nullptr,
                                           .y = args.out<T>(0),
                                           .in_plane = in_plane,
                                           .in_width = in_width,
                                           .out_plane = out_plane,
                                           .out_channels = out_channels,
                                           .sums = conv.sums()});
    };
    return BoundKernel{.run = std::move(run), .scratch_bytes = scratch_bytes};
  });
}

}  // namespace poprt::kernels
