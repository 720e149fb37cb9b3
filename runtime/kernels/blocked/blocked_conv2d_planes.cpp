#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/window/padded_rows.hpp"

namespace poprt::kernels {
namespace {

/// Floats of the padded input of a task, which stay in the second-level cache.
constexpr std::int64_t kStripFloats = 1 << 15;
/// Limit of the padded input, so that offsets fit in 32 bits.
constexpr std::int64_t kMostFloats = std::int64_t{1} << 27;

/// Convolution of an image of few planes, where blocks of channels would be spare lanes for the
/// most part: the rows that a strip of output rows needs are copied with their padding, and every
/// input element is met by 16 output channels at once.
struct PlanesConv2d {
  const ConvMicroKernels* kernels;
  Image in;
  BlockedImage out;
  bool ends_in_half;
  PaddedRows rows;
  bool half_weights;
  BlockedEpilogue epilogue;
  EvenSplit strips;           ///< of output rows
  std::int64_t plane_floats;  ///< of the padded rows of a strip
  std::vector<std::int32_t> tap_offsets = {};
  std::size_t planes_bytes = 0;
  std::size_t scratch_bytes = 0;

  /// The input of a strip, with zeros for padding.
  void CopyPadded(const float* image, std::int64_t out_row, std::int64_t out_rows,
                  float* target) const {
    for (std::int64_t c = 0; c < in.channels; ++c) {
      rows.Fill(out_row, out_rows, 0.0F, target + c * plane_floats,
                [&](std::int64_t row, std::int64_t count, float* to) {
                  std::copy_n(image + (c * in.height + row) * in.width, count, to);
                });
    }
  }

  void RunTask(const KernelArguments& args, std::int64_t task, std::byte* scratch) const {
    const std::int64_t strip = task % strips.blocks();
    const std::int64_t image = task / strips.blocks();
    const std::int64_t first_row = strips.begin(strip);
    const std::int64_t row_count = strips.end(strip) - first_row;
    auto* const planes = reinterpret_cast<float*>(scratch);
    auto* const offsets = reinterpret_cast<std::int32_t*>(scratch + planes_bytes);
    CopyPadded(args.in<float>(0) + image * in.channels * in.height * in.width, first_row, row_count,
               planes);
    std::int64_t pixels = 0;
    for (std::int64_t r = 0; r < row_count; ++r) {
      for (std::int64_t c = 0; c < out.width; ++c) {
        offsets[pixels++] = static_cast<std::int32_t>(r * rows.window.strides[0] * rows.width +
                                                      c * rows.window.strides[1]);
      }
    }
    const auto taps = static_cast<std::int64_t>(tap_offsets.size());
    const auto convolve = half_weights ? kernels->planes_f16 : kernels->planes_f32;
    const float* const residual = OptionalInput(args, 3);
    for (std::int64_t o = 0; o < out.blocks; o += kernels->outs) {
      const std::int64_t count = std::min<std::int64_t>(kernels->outs, out.blocks - o);
      const std::int64_t at =
          (image * out.blocks + o) * out.BlockFloats() + first_row * out.width * kBlock;
      convolve({.x = planes,
                .tap_offsets = tap_offsets.data(),
                .taps = taps,
                .weights = args.inputs[1] + o * taps * kBlock * (half_weights ? 2 : 4),
                .bias = BiasOfBlock(args, o),
                .epilogue = epilogue.WithResidual(residual == nullptr ? nullptr : residual + at),
                .y = args.out<float>(0) + at,
                .outputs = {.count = static_cast<int>(count),
                            .weights = taps * kBlock,
                            .y = out.BlockFloats(),
                            .last_is_half = ends_in_half && o + count == out.blocks}},
               offsets, pixels);
    }
  }

  void Run(const KernelArguments& args) const {
    args.pool->Run(in.batch * strips.blocks(), [&](std::int64_t task, int worker) {
      RunTask(args, task, args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
    });
  }

  void FindTapOffsets() {
    for (std::int64_t c = 0; c < in.channels; ++c) {
      for (const std::int32_t offset : rows.TapOffsets()) {
        tap_offsets.push_back(static_cast<std::int32_t>(c * plane_floats) + offset);
      }
    }
  }
};

}  // namespace

BoundKernel BindBlockedConv2dPlanes(const KernelCall& call, const ConvMicroKernels& kernels) {
  RequireArity(call, 2, 4);
  const TensorType& w = call.inputs[1];
  Require(call.inputs[0].element == ElementType::kFloat32,
          "input 0 is " + ToString(call.inputs[0]) + ", allowed is float32");
  const Image in = RequireImage(call.inputs[0], "input 0");
  const std::int64_t in_channels = RequirePositive(call.attributes, "in_channels");
  const std::int64_t out_channels = RequirePositive(call.attributes, "out_channels");
  Require(in.channels == in_channels && call.attributes.get_int("group", 1) == 1,
          "input 0 has " + std::to_string(in.channels) +
              " channels; they must be in_channels, and one group");
  const Ints kernel = RequireKernelShape(call.attributes);
  const auto taps = CheckedElementCount(kernel);
  Require(taps.has_value(), "the filter is too large");
  const bool half_weights = RequireHalfOrFloat(w.element, "the weights, input 1,");
  RequireType(w, PackedBlockedPlanesType(out_channels, in_channels, *taps, w.element),
              "the weights, input 1,");
  const Window window = ResolveWindow(call.attributes, {in.height, in.width}, kernel);
  const Shape extents = WindowOutputExtents(window, {in.height, in.width}, false);
  RequireType(call.outputs[0], BlockedImageType(in.batch, out_channels, extents[0], extents[1]),
              "output 0");
  RequireBlockedBiasAndResidual(call, out_channels);
  RequireSmallOffsets(window, in.height, in.width);

  const PaddedRows rows(window, {in.height, in.width}, extents);
  EvenSplit strips(extents[0], rows.RowsOfStrip(kStripFloats / in.channels));
  const Ints block_sizes = CutIntoBlocks(call.attributes, {&strips});
  const std::int64_t row_count = rows.Count(strips.largest());
  const auto plane_floats = CheckedElementCount({in.channels, row_count, rows.width});
  const auto depth = CheckedElementCount({in.channels, *taps});
  const auto pixels = CheckedElementCount({strips.largest(), extents[1]});
  Require(plane_floats.has_value() && *plane_floats <= kMostFloats && pixels.has_value() &&
              *pixels <= kMostFloats && depth.has_value() && *depth <= kMostFloats,
          "the filter spans too large an area");
  const auto conv = std::make_shared<PlanesConv2d>(
      PlanesConv2d{.kernels = &kernels,
                   .in = in,
                   .out = {in.batch, BlocksOf(out_channels), extents[0], extents[1]},
                   .ends_in_half = EndsInHalf(out_channels),
                   .rows = rows,
                   .half_weights = half_weights,
                   .epilogue = BlockedEpilogue(call.attributes),
                   .strips = strips,
                   .plane_floats = row_count * rows.width});
  conv->FindTapOffsets();
  conv->planes_bytes = FloatScratchBytes(*plane_floats);
  conv->scratch_bytes = conv->planes_bytes + FloatScratchBytes(*pixels);
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
