#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/split_conv2d.hpp"
#include "runtime/kernels/blocked/split_image_conv2d.hpp"
#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/blocked/tile_taps.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

// Weights of so many (input block, tap) pairs, 1 KiB each, stay in the first-level cache while all
// tiles of a strip of the image pass over them; the strip stays in the second-level cache while all
// blocks of a task pass over it.
constexpr std::int64_t kPairs = 20;
constexpr std::int64_t kStripFloats = 1 << 16;
constexpr std::int64_t kStripTaps = 1 << 12;
constexpr std::int64_t kSmallestHalf = 4;  ///< of a strip, where a thread would be idle otherwise

/// Keeps offsets within the weights of an input block in 32 bits.
constexpr std::int64_t kMostTaps = std::int64_t{1} << 22;

// Smaller tasks cost more to hand out than to run.
constexpr double kWorkOfTask = 1 << 18;

struct ConvSizes {
  std::int64_t images;  ///< times groups
  std::int64_t in_blocks;
  std::int64_t out_blocks;
  std::int64_t in_pixels;
  std::int64_t out_pixels;
  std::int64_t taps;
  std::int64_t pixel_step;  ///< input pixels to every output pixel
};

/// How the work is cut; estimated from sizes only.
struct ConvBlocking {
  explicit ConvBlocking(const ConvSizes& s)
      // Both times in_blocks * 16.
      : small_weights(s.out_blocks * s.taps * kBlock <= s.in_pixels),
        ins(s.in_blocks, std::max<std::int64_t>(1, kPairs / s.taps)),
        tiles(s.out_pixels),
        strips(tiles.count(), LargestStrip(s)),
        outs(s.out_blocks, WholeTilePanels(s.out_blocks), kTilePanels) {
    CutIntoTasks(s);
  }

  std::int64_t LargestStrip(const ConvSizes& s) const {
    const std::int64_t read = ins.largest() * std::min(s.taps, s.pixel_step);
    // With one part only, results are written once and not kept.
    const std::int64_t kept = ins.blocks() > 1 ? s.out_blocks : 0;
    const std::int64_t tile_floats = (read + kept) * kBlock * kTilePixels;
    const std::int64_t with_table = kStripTaps / s.taps;
    const std::int64_t smallest =
        small_weights ? kSmallestStrip
                      : std::clamp(with_table, kSmallestStrip, kSmallestOfLargeWeights);
    return std::max(smallest, std::min(kStripFloats / tile_floats, with_table));
  }

  void CutIntoTasks(const ConvSizes& s) {
    // As floating point because what a hostile file asks for may be out of range.
    const double products = static_cast<double>(s.images * s.out_blocks) *
                            static_cast<double>(s.in_blocks * s.taps * kBlock * kBlock) *
                            static_cast<double>(s.out_pixels);
    const auto wanted = static_cast<std::int64_t>(
        std::clamp(products / kWorkOfTask, 1.0, static_cast<double>(kTasksOfKernel)));
    const auto tasks = [&] { return s.images * strips.blocks() * outs.blocks(); };
    CutInHalves(s.images, wanted, small_weights, kSmallestStrip, strips, outs);
    // Most machines have an even number of processors.
    const bool is_uneven = tasks() < wanted && tasks() % 2 != 0;
    if (is_uneven && strips.largest() >= 2 * kSmallestHalf) {
      strips = strips.WithLargest((strips.largest() + 1) / 2);
    }
  }

  /// Block sizes: input blocks, tiles of output pixels, output blocks.
  Ints Cut(const Attributes& attributes) {
    return CutIntoBlocks(attributes, {&ins, &strips, &outs});
  }

  /// The tasks of an image and group.
  TaskGrid Grid() const {
    return TaskGrid::OfStrips(strips.blocks(), outs.blocks(), small_weights);
  }

  bool small_weights;  ///< smaller than the image
  EvenSplit ins;       ///< of input blocks, KC of BLIS
  RowTiles tiles;      ///< of output pixels
  EvenSplit strips;    ///< of tiles, MC
  EvenSplit outs;      ///< of output blocks, NC
};

/// Convolution of a blocked image by the indirect algorithm, see tile_taps.hpp.
struct BlockedConv2d {
  const ConvMicroKernels* kernels;
  const GemmMicroKernels* gemm;
  BlockedImage in;
  BlockedImage out;
  std::int64_t group;
  std::int64_t in_blocks;   ///< of a group
  std::int64_t out_blocks;  ///< of a group
  std::int64_t last_channels;
  bool ends_in_half;  ///< the last output block of a group
  Window window;
  StoredPanels weights;  ///< of output blocks
  BlockedEpilogue epilogue;
  ConvBlocking blocking;
  // Where a matrix unit is faster, one of these.
  std::optional<SplitConv2d> split = std::nullopt;
  std::optional<SplitImageConv2d> split_image = std::nullopt;
  std::size_t tiles_bytes = 0;
  std::size_t taps_bytes = 0;     ///< of tiles and taps
  std::size_t tables_bytes = 0;   ///< these, then widened weights
  std::size_t scratch_bytes = 0;  ///< tables, then what `split` needs

  std::int64_t Taps() const { return window.kernel[0] * window.kernel[1]; }

  /// The first row of a panel that is stored with that of an input block, or that itself.
  std::int64_t FirstRow(std::int64_t in_block) const {
    const std::int64_t row = in_block * Taps() * kBlock;
    return weights.AreScaled() ? row / kScaledBlock * kScaledBlock : row;
  }
  std::int64_t MostRows() const {
    return std::min(weights.depth,
                    blocking.ins.largest() * Taps() * kBlock + kScaledBlock - kBlock);
  }

  /// Weights of an output block of all groups from an input block on.
  const std::byte* Weights(const KernelArguments& args, std::int64_t out_block,
                           std::int64_t in_block) const {
    return weights.At(args.inputs[1], out_block, FirstRow(in_block));
  }

  /// Those of `count` output blocks by some input blocks, in `widened` if they are.
  PanelsView WeightsOf(const KernelArguments& args, std::int64_t out_block, int count,
                       std::int64_t first_in, std::int64_t last_in, float* widened) const {
    const std::int64_t first = FirstRow(first_in);
    PanelsView view = weights.View(*gemm, args.inputs[1], out_block, count, first,
                                   last_in * Taps() * kBlock - first, widened);
    if (weights.AreScaled()) view.data = widened + (first_in * Taps() * kBlock - first) * kBlock;
    return view;
  }

  void RunTask(const KernelArguments& args, std::int64_t index, std::byte* scratch) const {
    const TaskGrid grid = blocking.Grid();
    const auto [strip, outs] = grid.At(index % grid.count());
    RunPart(args,
            {.image_group = index / grid.count(),
             .first_pixel = blocking.tiles.begin(blocking.strips.begin(strip)),
             .last_pixel = blocking.tiles.begin(blocking.strips.end(strip)),
             .first_out = blocking.outs.begin(outs),
             .last_out = blocking.outs.end(outs)},
            scratch);
  }

  /// Some output blocks of at most as many pixels as there are tables for. Sums of more than one
  /// panel are kept in Y.
  void RunPart(const KernelArguments& args, const ConvPart& part, std::byte* scratch) const {
    const std::int64_t image_group = part.image_group;
    const std::int64_t in_group = image_group % group;
    const std::int64_t first_out = in_group * out_blocks + part.first_out;
    const std::int64_t last_out = in_group * out_blocks + part.last_out;
    const std::int64_t first_pixel = part.first_pixel;

    auto* const tiles = reinterpret_cast<ConvTile*>(scratch);
    auto* const taps = reinterpret_cast<TileTap*>(scratch + tiles_bytes);
    auto* const widened = reinterpret_cast<float*>(scratch + taps_bytes);
    const std::int64_t tile_count =
        FindTiles({in.height, in.width, out.width, window}, kernels->pixels, first_pixel,
                  part.last_pixel, tiles, taps);

    const auto conv =
        weights.element == ElementType::kFloat16 ? kernels->conv_f16 : kernels->conv_f32;
    const float* const residual = OptionalInput(args, 3);
    const std::int64_t parts = blocking.ins.blocks();
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t first_in = blocking.ins.begin(p);
      const bool last = p + 1 == parts;
      for (std::int64_t o = first_out; o < last_out; o += kernels->outs) {
        const std::int64_t at =
            ((image_group / group) * out.blocks + o) * out.BlockFloats() + first_pixel * kBlock;
        const std::int64_t count = std::min<std::int64_t>(kernels->outs, last_out - o);
        const bool next_out = o + count < last_out;
        const PanelsView panels =
            WeightsOf(args, o, static_cast<int>(count), first_in, blocking.ins.end(p), widened);
        ConvPanel panel{
            .x = args.in<float>(0) + (image_group * in_blocks + first_in) * in.BlockFloats(),
            .x_stride = in.BlockFloats(),
            .blocks = blocking.ins.end(p) - first_in,
            .last_channels = last ? last_channels : kBlock,
            .weights = panels.data,
            .weights_stride = Taps() * kBlock * kBlock,
            .start = args.out<float>(0) + at,
            .start_step = kBlock,
            .start_block = out.BlockFloats(),
            .epilogue = epilogue.WithResidual(residual == nullptr ? nullptr : residual + at),
            .y = args.out<float>(0) + at,
            .ahead = next_out ? Weights(args, o + count, first_in)
                     : last   ? nullptr
                              : Weights(args, first_out, blocking.ins.begin(p + 1)),
            .outputs = {.count = static_cast<int>(count),
                        .weights = panels.stride,
                        .y = out.BlockFloats(),
                        .last_is_half = ends_in_half && o + count == (in_group + 1) * out_blocks}};
        if (p == 0) {
          panel.start = BiasOfBlock(args, o);
          panel.start_step = 0;
          panel.start_block = kBlock;
        }
        if (!last) panel.epilogue = {};
        conv(panel, tiles, tile_count, taps);
      }
    }
  }

  /// On the matrix unit, but for what is not finite.
  void RunSplit(const KernelArguments& args) const {
    split->Run(args, tables_bytes, scratch_bytes, [&](const ConvPart& part, int worker) {
      RunPart(args, part, args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
    });
  }

  void RunSplitImage(const KernelArguments& args) const {
    split_image->Run(args, tables_bytes, scratch_bytes,
                     [&](const SplitImageConv2d::Pixels& pixels, std::int64_t block, int worker) {
                       const std::int64_t image_group = pixels.image * group + block / out_blocks;
                       const std::int64_t first_out = block % out_blocks;
                       for (std::int64_t x = pixels.first; x < pixels.last; ++x) {
                         const std::int64_t pixel = pixels.row * out.width + x;
                         RunPart(args, {image_group, pixel, pixel + 1, first_out, first_out + 1},
                                 args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
                       }
                     });
  }

  void Run(const KernelArguments& args) const {
    if (split.has_value()) return RunSplit(args);
    if (split_image.has_value()) return RunSplitImage(args);
    args.pool->Run(in.batch * group * blocking.Grid().count(), [&](std::int64_t index, int worker) {
      RunTask(args, index, args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
    });
  }

  void PlanUnit(const InnerLoops& loops) {
    if (!weights.AreScaled()) {
      split_image = SplitImageConv2d::Plan(
          loops,
          {.in_blocks = in_blocks,
           .last_channels = last_channels,
           .group = group,
           .out = out,
           .rows = PaddedRows(window, {in.height, in.width}, {out.height, out.width}),
           .half_weights = weights.element == ElementType::kFloat16},
          epilogue);
    }
    if (split_image.has_value()) return;
    split = SplitConv2d::Plan(loops,
                              {.in = in,
                               .out = out,
                               .group = group,
                               .in_blocks = in_blocks,
                               .out_blocks = out_blocks,
                               .last_channels = last_channels,
                               .images = ImagesAtOnce(in),
                               .window = window,
                               .panels = weights},
                              epilogue);
  }

  void PlanScratch() {
    const std::int64_t tiles = std::max<std::int64_t>(1, blocking.strips.largest());
    const auto taps = CheckedElementCount({tiles, Taps()});
    Require(taps.has_value() && *taps <= (std::int64_t{1} << 25), "the filter is too large");
    constexpr auto kTapFloats = static_cast<std::int64_t>(sizeof(TileTap) / sizeof(float));
    constexpr auto kTileFloats = static_cast<std::int64_t>(sizeof(ConvTile) / sizeof(float));
    tiles_bytes = FloatScratchBytes(tiles * kTileFloats);
    taps_bytes = tiles_bytes + FloatScratchBytes(*taps * kTapFloats);
    tables_bytes = taps_bytes + FloatScratchBytes(weights.WidenedFloats(kernels->outs, MostRows()));
    scratch_bytes = tables_bytes;
    if (split.has_value()) scratch_bytes += split->scratch_bytes();
    if (split_image.has_value()) scratch_bytes += split_image->scratch_bytes();
  }
};

}  // namespace

BoundKernel BindBlockedConv2d(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 2, 4);
  const TensorType& w = call.inputs[1];
  const std::int64_t in_channels = RequirePositive(call.attributes, "in_channels");
  const std::int64_t out_channels = RequirePositive(call.attributes, "out_channels");
  const std::int64_t group = call.attributes.get_int("group", 1);
  BlockedImage in = RequireBlockedImage(call.inputs[0], in_channels, "input 0");
  const Ints kernel = RequireKernelShape(call.attributes);
  const auto taps = CheckedElementCount(kernel);
  Require(taps.has_value() && *taps <= kMostTaps, "the filter has more than 2^22 taps");
  StoredPanels weights{w.element, 0};
  RequireType(
      w,
      weights.AreScaled()
          ? ScaledPanelsType(BlockedConv2dPanelsType(out_channels, in_channels, *taps, group))
          : PackedBlockedConv2dType(out_channels, in_channels, *taps, group, w.element),
      "the weights, input 1,");
  Window window = ResolveWindow(call.attributes, {in.height, in.width}, kernel);
  const Shape extents = WindowOutputExtents(window, {in.height, in.width}, false);
  RequireType(call.outputs[0], BlockedImageType(in.batch, out_channels, extents[0], extents[1]),
              "output 0");
  RequireBlockedBiasAndResidual(call, out_channels);
  RequireSmallOffsets(window, in.height, in.width);

  BlockedImage out{in.batch, BlocksOf(out_channels), extents[0], extents[1]};
  if (ReadsEveryPixelOnce(window)) {
    in = {in.batch, in.blocks, 1, in.Pixels()};
    out = {out.batch, out.blocks, 1, out.Pixels()};
  }
  const std::int64_t in_blocks = BlocksOf(in_channels / group);
  const std::int64_t out_blocks = BlocksOf(out_channels / group);
  weights.depth = in_blocks * *taps * kBlock;
  const std::int64_t pixel_step =
      std::min<std::int64_t>(window.strides[0], 64) * std::min<std::int64_t>(window.strides[1], 64);
  const auto conv = std::make_shared<BlockedConv2d>(
      BlockedConv2d{.kernels = &loops.conv,
                    .gemm = &loops.gemm,
                    .in = in,
                    .out = out,
                    .group = group,
                    .in_blocks = in_blocks,
                    .out_blocks = out_blocks,
                    .last_channels = in_channels / group - (in_blocks - 1) * kBlock,
                    .ends_in_half = EndsInHalf(out_channels / group),
                    .window = std::move(window),
                    .weights = weights,
                    .epilogue = BlockedEpilogue(call.attributes),
                    .blocking = ConvBlocking({.images = in.batch * group,
                                              .in_blocks = in_blocks,
                                              .out_blocks = out_blocks,
                                              .in_pixels = in.Pixels(),
                                              .out_pixels = out.Pixels(),
                                              .taps = *taps,
                                              .pixel_step = pixel_step})});
  const Ints block_sizes = conv->blocking.Cut(call.attributes);
  conv->PlanUnit(loops);
  conv->PlanScratch();
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
