#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/quantized/byte_conv.hpp"
#include "runtime/kernels/quantized/byte_conv2d.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"

namespace poprt::kernels {
namespace {

/// Quads of the padded input of a task, which stay in the first-level cache.
constexpr std::int64_t kStripQuads = 1 << 12;
/// Tasks of an image that is large enough.
constexpr std::int64_t kTasks = 8;
constexpr std::int64_t kMostQuads = std::int64_t{1} << 27;

/// Convolution of an image of few planes, whose channels are one quad of every pixel: the rows that
/// a strip of output rows needs are interleaved, with their padding.
struct BytePlanesConv2d {
  BytePlanesConv2d(const KernelCall& call, const Image& image, std::int64_t out_channels,
                   const ByteMicroKernels& best)
      : conv(call, {image.batch, 1, image.height, image.width}, out_channels),
        channels(image.channels),
        kernels(best),
        row_quads((conv.out.width - 1) * conv.window.strides[1] + conv.window.Reach(1)),
        strips(conv.out.height, RowsOfStrip()) {
    RequireType(call.inputs[1], PackedBytePlanesType(out_channels, conv.taps()),
                "the weights, input 1,");
    const auto quads = CheckedElementCount({InputRows(strips.largest()), row_quads});
    Require(quads.has_value() && *quads <= kMostQuads, "the filter spans too large an area");
    scratch_bytes = ScratchBytes(static_cast<std::size_t>(*quads) * sizeof(Quad));
    for (std::int64_t i = 0; i < conv.kernel[0]; ++i) {
      for (std::int64_t k = 0; k < conv.kernel[1]; ++k) {
        tap_offsets.push_back(static_cast<std::int32_t>(i * conv.window.dilations[0] * row_quads +
                                                        k * conv.window.dilations[1]));
      }
    }
  }

  std::int64_t InputRows(std::int64_t rows) const {
    return (rows - 1) * conv.window.strides[0] + conv.window.Reach(0);
  }
  /// At least 1: as many as fit the cache and leave enough tasks.
  std::int64_t RowsOfStrip() const {
    const std::int64_t more = std::max<std::int64_t>(
        0, kStripQuads / std::max<std::int64_t>(1, row_quads) - conv.window.Reach(0));
    return std::clamp<std::int64_t>(1 + more / conv.window.strides[0], 1,
                                    (conv.out.height + kTasks - 1) / kTasks);
  }

  /// Quads of `rows` input rows from `first` on, those of padding outside the image.
  void Interleave(const std::uint8_t* image, std::int64_t first, std::int64_t rows,
                  Quad* to) const {
    const Quad padding = conv.x_point * Quad{0x01010101};
    const std::int64_t left = std::min(conv.window.pads_begin[1], row_quads);
    const std::int64_t kept = std::min(conv.in.width, row_quads - left);
    for (std::int64_t row = first; row < first + rows; ++row, to += row_quads) {
      if (row < 0 || row >= conv.in.height) {
        std::fill_n(to, row_quads, padding);
        continue;
      }
      // Spare channels, which meet weights of zero, are any.
      std::array<const std::uint8_t*, kMostBytePlanes> planes;
      for (std::int64_t c = 0; c < kMostBytePlanes; ++c) {
        planes[static_cast<std::size_t>(c)] =
            image + (std::min(c, channels - 1) * conv.in.height + row) * conv.in.width;
      }
      std::fill_n(to, left, padding);
      kernels.interleave(planes.data(), kept, 0, to + left);
      std::fill(to + left + kept, to + row_quads, padding);
    }
  }

  void RunTask(const KernelArguments& args, std::int64_t index, Quad* quads) const {
    const std::int64_t image = index / strips.blocks();
    const std::int64_t first = strips.begin(index % strips.blocks());
    const std::int64_t end = strips.end(index % strips.blocks());
    const std::int64_t stride = conv.window.strides[0];
    Interleave(args.in<std::uint8_t>(0) + image * channels * conv.in.Pixels(),
               first * stride - conv.window.pads_begin[0], InputRows(end - first), quads);
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
        row.x += stride * row_quads;
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
  std::int64_t row_quads;  ///< of a padded row
  EvenSplit strips;        ///< of output rows
  std::vector<std::int32_t> tap_offsets = {};
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
