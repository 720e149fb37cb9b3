#include "runtime/kernels/quantized/byte_conv2d.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/blocked/tile_taps.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/quantized/byte_conv.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"

namespace poprt::kernels {
namespace {

// Smaller tasks cost more to hand out than to run; fewer tasks leave threads idle.
constexpr double kWorkOfTask = 1 << 20;
constexpr std::int64_t kTasks = 8;

// ---- Sums over channels ----------------------------------------------------------------------

struct ByteConv2d {
  ByteConv2d(const KernelCall& call, std::int64_t in_channels, std::int64_t out_channels,
             const ByteMicroKernels& best)
      : conv(call, RequireByteImage(call, in_channels), out_channels),
        taps(conv.taps()),
        last_quads((in_channels - (conv.in.blocks - 1) * kBlock + 3) / 4),
        kernels(PaysOnUnit() || best.without_unit == nullptr ? best : *best.without_unit),
        pixels(0, 1),
        outs(conv.out.blocks, WholeTilePanels(conv.out.blocks), kTilePanels) {
    RequireType(call.inputs[1], PackedByteConvType(out_channels, in_channels, taps),
                "the weights, input 1,");
    is_run = ReadsEveryPixelOnce(conv.window);
    if (is_run) {
      conv.in = {conv.in.batch, conv.in.blocks, 1, conv.in.Pixels()};
      conv.out = {conv.out.batch, conv.out.blocks, 1, conv.out.Pixels()};
    }
    padding.fill(conv.x_point);
    small_weights = conv.out.blocks * taps * kBlock <= conv.in.Pixels();
    CutIntoTasks();
    PlanScratch();
  }

  /// Whether a matrix unit takes less long than a vector for each quad: cycles of a pixel,
  /// measured.
  bool PaysOnUnit() const {
    const auto pairs = static_cast<double>(conv.in.blocks * taps);
    constexpr std::int64_t kQuads = kBlock / 4;
    const auto quads = static_cast<double>(((conv.in.blocks - 1) * kQuads + last_quads) * taps);
    const auto blocks = static_cast<double>(conv.out.blocks);
    const double on_unit = 2.5 * pairs + blocks * (0.4 * pairs + 14);
    return on_unit < 0.8 * (0.7 * quads * blocks);
  }

  /// Strips of pixels whose tables of taps stay small.
  void CutIntoTasks() {
    constexpr std::int64_t kStripTaps = 1 << 12;
    const std::int64_t most = std::max<std::int64_t>(1, kStripTaps / taps) * kMostTilePixels;
    pixels = EvenSplit(conv.out.Pixels(), most);
    const double products = static_cast<double>(conv.in.batch * conv.out.blocks) *
                            static_cast<double>(conv.in.blocks * taps * kBlock * kBlock) *
                            static_cast<double>(conv.out.Pixels());
    const auto wanted = static_cast<std::int64_t>(
        std::clamp(products / kWorkOfTask, 1.0, static_cast<double>(kTasks)));
    CutInHalves(conv.in.batch, wanted, small_weights, kSmallestStrip * kMostTilePixels, pixels,
                outs);
  }

  void PlanScratch() {
    // Registers have room for so many pixels at least.
    constexpr std::int64_t kFewestOfTile = 4;
    const std::int64_t most = (pixels.largest() + kFewestOfTile - 1) / kFewestOfTile;
    const auto tap_count = CheckedElementCount({most, taps});
    Require(tap_count.has_value() && *tap_count <= (std::int64_t{1} << 25),
            "the filter is too large");
    tiles_bytes = ScratchBytes(static_cast<std::size_t>(most) * sizeof(ConvTile));
    scratch_bytes =
        tiles_bytes + ScratchBytes(static_cast<std::size_t>(*tap_count) * sizeof(TileTap));
  }

  void RunTask(const KernelArguments& args, std::int64_t index, std::byte* scratch) const {
    const TaskGrid grid = TaskGrid::OfStrips(pixels.blocks(), outs.blocks(), small_weights);
    const std::int64_t image = index / grid.count();
    const auto [strip, part] = grid.At(index % grid.count());
    const std::int64_t first = pixels.begin(strip);
    auto* const table = reinterpret_cast<ConvTile*>(scratch);
    auto* const of_tiles = reinterpret_cast<TileTap*>(scratch + tiles_bytes);
    const std::int64_t count =
        FindTiles({conv.in.height, conv.in.width, conv.out.width, conv.window,
                   conv.x_point == 0 && kernels.without_unit == nullptr},
                  kernels.pixels, first, pixels.end(strip), table, of_tiles);
    const std::int64_t weights = conv.in.blocks * taps * kBlock * (kBlock / 4);
    const std::int64_t end = outs.end(part);
    for (std::int64_t o = outs.begin(part); o < end;) {
      const std::int64_t some = std::min(kernels.outs, end - o);
      kernels.convolve(
          {.x = args.in<std::uint8_t>(0) + image * conv.in.blocks * conv.in.BlockFloats(),
           .x_stride = conv.in.BlockFloats(),
           .blocks = conv.in.blocks,
           .last_quads = last_quads,
           .padding = padding.data(),
           .weights = args.in<Quad>(1) + o * weights,
           .ahead = o + some < end ? args.in<Quad>(1) + (o + some) * weights : nullptr,
           .taps = taps,
           .is_run = is_run,
           .outs = some,
           .weights_stride = weights,
           .epilogue = conv.EpilogueOf(args, o),
           .y = args.out<std::uint8_t>(0) + (image * conv.out.blocks + o) * conv.out.BlockFloats() +
                first * kBlock,
           .y_stride = conv.out.BlockFloats()},
          table, count, of_tiles);
      o += some;
    }
  }

  void Run(const KernelArguments& args) const {
    const std::int64_t tasks = conv.in.batch * pixels.blocks() * outs.blocks();
    args.pool->Run(tasks, [&](std::int64_t index, int worker) {
      RunTask(args, index, args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
    });
  }

  ByteConv conv;
  std::int64_t taps;
  std::int64_t last_quads;
  const ByteMicroKernels& kernels;
  bool is_run = false;         ///< each pixel meets its own, so that the image is one row
  bool small_weights = false;  ///< smaller than the image
  EvenSplit pixels;            ///< of the output
  EvenSplit outs;              ///< of its blocks
  std::array<std::uint8_t, kBlock> padding{};
  std::size_t tiles_bytes = 0;
  std::size_t scratch_bytes = 0;
};

// ---- Single channels -------------------------------------------------------------------------

/// A task copies the rows that it reads, with their padding.
struct ByteDepthwiseConv2d {
  ByteDepthwiseConv2d(const KernelCall& call, std::int64_t channels, const ByteMicroKernels& best)
      : conv(call, RequireByteImage(call, channels), channels),
        kernels(best),
        segments((conv.kernel[1] + 3) / 4),
        width(conv.in.width + conv.window.pads_begin[1] + conv.window.pads_end[1]),
        bands(conv.out.height, BandRows()) {
    RequireType(call.inputs[1], PackedByteDepthwiseType(channels, conv.kernel[0], conv.kernel[1]),
                "the weights, input 1,");
    Require(conv.window.dilations == Ints({1, 1}), "attribute 'dilations' must be ones");
    const auto bytes = CheckedElementCount({InputRows(bands.largest()), width + kSpare, kBlock});
    Require(bytes.has_value() && *bytes <= (std::int64_t{1} << 30), "the image is too wide");
    scratch_bytes = ScratchBytes(static_cast<std::size_t>(*bytes));
  }

  /// Pixels that are read behind the last row.
  static constexpr std::int64_t kSpare = 4;

  std::int64_t InputRows(std::int64_t rows) const {
    return (rows - 1) * conv.window.strides[0] + conv.kernel[0];
  }
  /// Rows of the result, of which as many bytes are read as stay in the first-level cache.
  std::int64_t BandRows() const {
    constexpr std::int64_t kBytes = 1 << 14;
    const std::int64_t row = std::max<std::int64_t>(1, width) * kBlock;
    return std::max(kBytes / row / conv.window.strides[0], conv.kernel[0]);
  }

  /// Input rows [first, first + count) of a block, where rows and columns outside are padding.
  void CopyRows(const std::uint8_t* x, std::int64_t first, std::int64_t count,
                std::uint8_t* to) const {
    const std::int64_t left = conv.window.pads_begin[1] * kBlock;
    for (std::int64_t r = first; r < first + count; ++r, to += width * kBlock) {
      if (r < 0 || r >= conv.in.height) {
        std::fill_n(to, width * kBlock, conv.x_point);
        continue;
      }
      std::fill_n(to, left, conv.x_point);
      std::uint8_t* const end =
          std::copy_n(x + r * conv.in.width * kBlock, conv.in.width * kBlock, to + left);
      std::fill(end, to + width * kBlock, conv.x_point);
    }
    std::fill_n(to, kSpare * kBlock, conv.x_point);
  }

  void RunTask(const KernelArguments& args, std::int64_t index, std::uint8_t* rows) const {
    const std::int64_t plane = index / bands.blocks();
    const std::int64_t block = plane % conv.out.blocks;
    const std::int64_t first = bands.begin(index % bands.blocks());
    const std::int64_t end = bands.end(index % bands.blocks());
    const std::int64_t stride = conv.window.strides[0];
    CopyRows(args.in<std::uint8_t>(0) + plane * conv.in.BlockFloats(),
             first * stride - conv.window.pads_begin[0], InputRows(end - first), rows);
    for (std::int64_t row = first; row < end; ++row) {
      kernels.depthwise({.x = rows + (row - first) * stride * width * kBlock,
                         .row_bytes = width * kBlock,
                         .pixel_bytes = conv.window.strides[1] * kBlock,
                         .rows = conv.kernel[0],
                         .columns = conv.kernel[1],
                         .weights = args.in<Quad>(1) + block * conv.kernel[0] * segments * kBlock,
                         .epilogue = conv.EpilogueOf(args, block),
                         .y = args.out<std::uint8_t>(0) + plane * conv.out.BlockFloats() +
                              row * conv.out.width * kBlock,
                         .pixels = conv.out.width});
    }
  }

  void Run(const KernelArguments& args) const {
    args.pool->Run(conv.in.batch * conv.out.blocks * bands.blocks(),
                   [&](std::int64_t index, int worker) {
                     RunTask(args, index,
                             reinterpret_cast<std::uint8_t*>(args.scratch) +
                                 static_cast<std::size_t>(worker) * scratch_bytes);
                   });
  }

  ByteConv conv;
  const ByteMicroKernels& kernels;
  std::int64_t segments;  ///< of four taps, of a row
  std::int64_t width;     ///< with padding
  EvenSplit bands;        ///< of the rows of the result
  std::size_t scratch_bytes = 0;
};

template <typename Conv>
BoundKernel Bound(std::shared_ptr<const Conv> conv) {
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes};
}

}  // namespace

BoundKernel BindByteConv2d(const KernelCall& call, const ByteMicroKernels& kernels) {
  RequireArity(call, 4, 4);
  const std::int64_t in_channels = RequirePositive(call.attributes, "in_channels");
  const std::int64_t out_channels = RequirePositive(call.attributes, "out_channels");
  return Bound<ByteConv2d>(
      std::make_shared<const ByteConv2d>(call, in_channels, out_channels, kernels));
}

BoundKernel BindByteDepthwiseConv2d(const KernelCall& call, const ByteMicroKernels& kernels) {
  RequireArity(call, 4, 4);
  const std::int64_t channels = RequirePositive(call.attributes, "out_channels");
  Require(RequirePositive(call.attributes, "in_channels") == channels,
          "attributes 'in_channels' and 'out_channels' must be the same");
  return Bound<ByteDepthwiseConv2d>(
      std::make_shared<const ByteDepthwiseConv2d>(call, channels, kernels));
}

}  // namespace poprt::kernels
