#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/quantized/byte_conv.hpp"
#include "runtime/kernels/quantized/byte_conv2d.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"
#include "runtime/kernels/window/padded_rows.hpp"

namespace poprt::kernels {
namespace {

/// Quads of the padded input of a task, which stay in the first-level cache.
constexpr std::int64_t kStripQuads = 1 << 12;
constexpr std::int64_t kMostQuads = std::int64_t{1} << 27;

/// Convolution of an image of few planes, whose channels are one quad of every pixel: the rows that
/// a strip of output rows needs are interleaved, with their padding.
struct BytePlanesConv2d {
  BytePlanesConv2d(const KernelCall& call, const Image& image, std::int64_t out_channels,
                   const ByteMicroKernels& best)
      : conv(call, {image.batch, 1, image.height, image.width}, out_channels),
        channels(image.channels),
        kernels(best),
        rows(conv.window, {image.height, image.width}, {conv.out.height, conv.out.width}),
        strips(conv.out.height, rows.RowsOfStrip(kStripQuads)),
        tap_offsets(rows.TapOffsets()) {
    RequireType(call.inputs[1], PackedBytePlanesType(out_channels, conv.taps()),
                "the weights, input 1,");
    const auto quads = CheckedElementCount({rows.Count(strips.largest()), rows.width});
    Require(quads.has_value() && *quads <= kMostQuads, "the filter spans too large an area");
    scratch_bytes = ScratchBytes(static_cast<std::size_t>(*quads) * sizeof(Quad));
  }

  /// Quads of the rows that output rows [first, first + count) read.
  void Interleave(const std::uint8_t* image, std::int64_t first, std::int64_t count,
                  Quad* to) const {
    const Quad padding = conv.x_point * Quad{0x01010101};
    rows.Fill(first, count, padding, to, [&](std::int64_t row, std::int64_t kept, Quad* quads) {
      // Spare channels, which meet weights of zero, are any.
      std::array<const std::uint8_t*, kMostBytePlanes> planes;
      for (std::int64_t c = 0; c < kMostBytePlanes; ++c) {
        planes[static_cast<std::size_t>(c)] =
            image + (std::min(c, channels - 1) * conv.in.height + row) * conv.in.width;
      }
      kernels.interleave(planes.data(), kept, 0, quads);
    });
  }

  void RunTask(const KernelArguments& args, std::int64_t index, Quad* quads) const {
    const std::int64_t image = index / strips.blocks();
    const std::int64_t first = strips.begin(index % strips.blocks());
    const std::int64_t end = strips.end(index % strips.blocks());
    Interleave(args.in<std::uint8_t>(0) + image * channels * conv.in.Pixels(), first, end - first,
               quads);
    for (std::int64_t o = 0; o < conv.out.blocks; o += kernels.planes_outs) {
      BytePlanesRow row{.x = quads,
                        .pixel_quads = conv.window.strides[1],
                        .tap_offsets = tap_offsets.data(),
                        .taps = conv.taps(),
                        .weights = args.in<Quad>(1) + o * conv.taps() * kBlock,
                        .outs = std::min<std::int64_t>(kernels.planes_outs, conv.out.blocks - o),
                        .epilogue = conv.EpilogueOf(args, o),
                        .y = args.out<std::uint8_t>(0) +
                             (image * conv.out.blocks + o) * conv.out.BlockFloats() +
                             first * conv.out.width * kBlock,
                        .y_stride = conv.out.BlockFloats(),
                        .pixels = conv.out.width};
      for (std::int64_t r = first; r < end; ++r) {
        kernels.convolve_planes(row);
        row.x += conv.window.strides[0] * rows.width;
        row.y += conv.out.width * kBlock;
      }
    }
  }

  void Run(const KernelArguments& args) const {
    args.pool->Run(conv.in.batch * strips.blocks(), [&](std::int64_t index, int worker) {
      RunTask(
          args, index,
          reinterpret_cast<Quad*>(args.scratch + static_cast<std::size_t>(worker) * scratch_bytes));
    });
  }

  ByteConv conv;
  std::int64_t channels;
  const ByteMicroKernels& kernels;
  PaddedRows rows;
  EvenSplit strips;  ///< of output rows
  std::vector<std::int32_t> tap_offsets;
  std::size_t scratch_bytes = 0;
};

}  // namespace

BoundKernel BindBytePlanesConv2d(const KernelCall& call, const ByteMicroKernels& kernels) {
  RequireArity(call, 4, 4);
  RequireElement(call.inputs[0], Types({ElementType::kUint8}), "input 0");
  const Image image = RequireImage(call.inputs[0], "input 0");
  Require(image.channels == RequirePositive(call.attributes, "in_channels") &&
              image.channels <= kMostBytePlanes,
          "input 0 has " + std::to_string(image.channels) +
              " channels; they must be in_channels, and at most " +
              std::to_string(kMostBytePlanes));
  const auto conv = std::make_shared<const BytePlanesConv2d>(
      call, image, RequirePositive(call.attributes, "out_channels"), kernels);
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes};
}

}  // namespace poprt::kernels
