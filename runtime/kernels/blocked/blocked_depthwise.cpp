#include <algorithm>
#include <memory>
#include <string>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/plane_tasks.hpp"
#include "runtime/kernels/blocked/window_areas.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

/// Depthwise convolution block by block: channels are lanes, so that a tap is one multiply-add for
/// every vector of outputs.
struct BlockedDepthwise {
  const BlockedTiles* kernels;
  BlockedImage in;
  BlockedImage out;
  std::int64_t taps;
  std::int64_t filter_width;
  bool half_weights;
  BlockedEpilogue epilogue;
  WindowAreas areas;
  PlaneTasks tasks;

  const std::byte* Weights(const KernelArguments& args, std::int64_t block,
                           std::int64_t tap) const {
    return args.inputs[1] + (block * taps + tap) * kBlock * (half_weights ? 2 : 4);
  }

  void RunRows(const KernelArguments& args, std::int64_t plane, std::int64_t first_row,
               std::int64_t last_row) const {
    const std::int64_t block = plane % out.blocks;
    const float* const x = args.in<float>(0) + plane * in.BlockFloats();
    float* const y = args.out<float>(0) + plane * out.BlockFloats();
    const float* const residual = OptionalInput(args, 3);
    const auto depthwise = half_weights ? kernels->depthwise_f16 : kernels->depthwise_f32;
    areas.ForAreas(first_row, last_row, x, y,
                   [&](const WindowArea& area, const TapSpan& rows, const TapSpan& columns) {
                     const std::int64_t tap = rows.first_tap * filter_width + columns.first_tap;
                     const float* const added =
                         residual == nullptr ? nullptr : residual + (area.y - args.out<float>(0));
                     depthwise({.window = area,
                                .weights = Weights(args, block, tap),
                                .weights_row = filter_width * kBlock,
                                .bias = BiasOfBlock(args, block),
                                .epilogue = epilogue.WithResidual(added)});
                   });
  }

  void Run(const KernelArguments& args) const {
    tasks.Run(*args.pool, [&](std::int64_t plane, std::int64_t first_row, std::int64_t last_row) {
      RunRows(args, plane, first_row, last_row);
    });
  }
};

}  // namespace

BoundKernel BindBlockedDepthwiseConv2d(const KernelCall& call, const BlockedTiles& tiles) {
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
  const auto depthwise = std::make_shared<BlockedDepthwise>(
      BlockedDepthwise{.kernels = &tiles,
                       .in = in,
                       .out = out,
                       .taps = *taps,
                       .filter_width = kernel[1],
                       .half_weights = half_weights,
                       .epilogue = BlockedEpilogue(call.attributes),
                       .areas = WindowAreas(window, in, out),
                       .tasks = PlaneTasks(out, *taps)});
  return {.run = [depthwise](const KernelArguments& args) { depthwise->Run(args); }};
}

}  // namespace poprt::kernels
