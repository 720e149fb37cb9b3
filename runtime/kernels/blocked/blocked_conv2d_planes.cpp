#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/split_image_conv2d.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/window/padded_rows.hpp"

namespace poprt::kernels {
namespace {

/// Floats of the padded input of a task, which stay in the second-level cache.
constexpr std::int64_t kStripFloats = 1 << 15;
/// Limit of the padded input, so that offsets fit in 32 bits.
constexpr std::int64_t kMostFloats = std::int64_t{1} << 27;

/// Some output pixels, whole rows or a part of one, by some output blocks.
struct Part {
  std::int64_t image;
  std::int64_t first_row;
  std::int64_t last_row;
  std::int64_t first_column;
  std::int64_t last_column;
  std::int64_t first_block;
  std::int64_t last_block;
};

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
  std::size_t tables_bytes = 0;   ///< planes and offsets
  std::size_t scratch_bytes = 0;  ///< these and what the unit needs
  std::optional<SplitImageConv2d> split = {};

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
    RunPart(args,
            {.image = task / strips.blocks(),
             .first_row = strips.begin(strip),
             .last_row = strips.end(strip),
             .first_column = 0,
             .last_column = out.width,
             .first_block = 0,
             .last_block = out.blocks},
            scratch);
  }

  /// Whole rows, or a part of one.
  void RunPart(const KernelArguments& args, const Part& part, std::byte* scratch) const {
    const std::int64_t first_row = part.first_row;
    const std::int64_t row_count = part.last_row - first_row;
    auto* const planes = reinterpret_cast<float*>(scratch);
    auto* const offsets = reinterpret_cast<std::int32_t*>(scratch + planes_bytes);
    CopyPadded(args.in<float>(0) + part.image * in.channels * in.height * in.width, first_row,
               row_count, planes);
    std::int64_t pixels = 0;
    for (std::int64_t r = 0; r < row_count; ++r) {
      for (std::int64_t c = part.first_column; c < part.last_column; ++c) {
        offsets[pixels++] = static_cast<std::int32_t>(r * rows.window.strides[0] * rows.width +
                                                      c * rows.window.strides[1]);
      }
    }
    const auto taps = static_cast<std::int64_t>(tap_offsets.size());
    const auto convolve = half_weights ? kernels->planes_f16 : kernels->planes_f32;
    const float* const residual = OptionalInput(args, 3);
    for (std::int64_t o = part.first_block; o < part.last_block; o += kernels->outs) {
      const std::int64_t count = std::min<std::int64_t>(kernels->outs, part.last_block - o);
      const std::int64_t at = (part.image * out.blocks + o) * out.BlockFloats() +
                              (first_row * out.width + part.first_column) * kBlock;
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

  /// On the matrix unit, but for what is not finite.
  void RunSplit(const KernelArguments& args) const {
    split->Run(args, tables_bytes, scratch_bytes,
               [&](const SplitImageConv2d::Pixels& pixels, std::int64_t block, int worker) {
                 RunPart(args,
                         {.image = pixels.image,
                          .first_row = pixels.row,
                          .last_row = pixels.row + 1,
                          .first_column = pixels.first,
                          .last_column = pixels.last,
                          .first_block = block,
                          .last_block = block + 1},
                         args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
               });
  }

  void Run(const KernelArguments& args) const {
    if (split.has_value()) return RunSplit(args);
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

BoundKernel BindBlockedConv2dPlanes(const KernelCall& call, const InnerLoops& loops) {
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
      PlanesConv2d{.kernels = &loops.conv,
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
  conv->tables_bytes = conv->planes_bytes + FloatScratchBytes(*pixels);
  conv->split =
      SplitImageConv2d::Plan(loops,
                             {.planes = in.channels,
                              .out = conv->out,
                              .rows = rows,
                              .half_weights = half_weights,
                              .rows_of_task = std::max<std::int64_t>(1, strips.largest())},
                             conv->epilogue);
  conv->scratch_bytes =
      conv->tables_bytes + (conv->split.has_value() ? conv->split->scratch_bytes() : 0);
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
