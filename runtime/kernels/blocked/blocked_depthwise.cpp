#include <algorithm>
#include <memory>
#include <string>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/depthwise_filter.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/plane_tasks.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

struct BlockedDepthwise {
  DepthwiseFilter filter;
  BlockedImage in;
  BlockedImage out;
  PlaneTasks tasks;

  void RunRows(const KernelArguments& args, std::int64_t plane, std::int64_t first_row,
               std::int64_t last_row) const {
    const std::int64_t block = plane % out.blocks;
    const std::int64_t at = plane * out.BlockFloats();
    const float* const residual = OptionalInput(args, 3);
    filter.Run({.x = args.in<float>(0) + plane * in.BlockFloats()},
               filter.Weights(args.inputs[1], block), BiasOfBlock(args, block), first_row, last_row,
               residual == nullptr ? nullptr : residual + at, args.out<float>(0) + at);
  }

  void Run(const KernelArguments& args) const {
    tasks.Run(*args.pool, [&](std::int64_t plane, std::int64_t first_row, std::int64_t last_row) {
      RunRows(args, plane, first_row, last_row);
    });
  }
};

}  // namespace

BoundKernel BindBlockedDepthwiseConv2d(const KernelCall& call, const ConvMicroKernels& kernels) {
  RequireArity(call, 2, 4);
  const TensorType& w = call.inputs[1];
  const std::int64_t channels = RequirePositive(call.attributes, "in_channels");
  const std::int64_t out_channels = RequirePositive(call.attributes, "out_channels");
  const std::int64_t group = call.attributes.get_int("group", channels);
  Require(channels == out_channels && group == channels,
          "input channels (" + std::to_string(channels) + "), output channels (" +
              std::to_string(out_channels) + ") and group (" + std::to_string(group) +
              ") must be the same number");
  const BlockedImage in = RequireBlockedImage(call.inputs[0], channels, "input 0");
  const Ints kernel = RequireKernelShape(call.attributes);
  const auto taps = CheckedElementCount(kernel);
  Require(taps.has_value(), "the filter is too large");
  const bool half_weights = RequireHalfOrFloat(w.element, "the weights, input 1,");
  RequireType(w, PackedBlockedDepthwiseType(channels, *taps, w.element), "the weights, input 1,");
  const Window window = ResolveWindow(call.attributes, {in.height, in.width}, kernel);
  const Shape extents = WindowOutputExtents(window, {in.height, in.width}, false);
  RequireType(call.outputs[0], BlockedImageType(in.batch, channels, extents[0], extents[1]),
              "output 0");
  RequireBlockedBiasAndResidual(call, channels);
  RequireSmallOffsets(window, in.height, in.width);

  const BlockedImage out{in.batch, in.blocks, extents[0], extents[1]};
  const auto depthwise = std::make_shared<BlockedDepthwise>(BlockedDepthwise{
      .filter = DepthwiseFilter(kernels, window, in, out, half_weights, call.attributes),
      .in = in,
      .out = out,
      .tasks = PlaneTasks(out, *taps)});
  const Ints block_sizes = depthwise->tasks.Cut(call.attributes);
  return {.run = [depthwise](const KernelArguments& args) { depthwise->Run(args); },
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
