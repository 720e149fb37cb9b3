#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pointwise_product.hpp"
#include "runtime/kernels/blocked/split_conv2d.hpp"
#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

// A strip of all channels stays close to the core while the weights of all groups pass over it; it
// is long enough to make loading them worth while.
constexpr std::int64_t kStripFloats = 1 << 14;
// Smaller tasks cost more to hand out than to run.
constexpr double kWorkOfTask = 1 << 18;

/// How the work is cut; estimated from sizes only.
struct PointwiseBlocking {
  explicit PointwiseBlocking(const PointwiseProduct& product)
      : tiles(product.in().Pixels()),
        strips(tiles.count(), std::max(SmallestStrip(product), kStripFloats / TileFloats(product))),
        outs(product.blocks(), BlocksOfTask(product, product.in().batch * strips.blocks()),
             kTilePanels) {}

  static bool HasSmallWeights(const PointwiseProduct& product) {
    const BlockedImage& in = product.in();
    return product.blocks() * product.ProductsOfBlock() <= in.blocks * in.BlockFloats();
  }
  static std::int64_t SmallestStrip(const PointwiseProduct& product) {
    return HasSmallWeights(product) ? kSmallestStrip : kSmallestOfLargeWeights;
  }
  /// Of the image; at least 1.
  static std::int64_t TileFloats(const PointwiseProduct& product) {
    return product.in().blocks * kBlock * kTilePixels;
  }
  static std::int64_t BlocksOfTask(const PointwiseProduct& product, std::int64_t strips) {
    const BlockedImage& in = product.in();
    const double products = static_cast<double>(in.batch * product.blocks()) *
                            static_cast<double>(in.Pixels()) *
                            static_cast<double>(product.ProductsOfBlock());
    const auto wanted = static_cast<std::int64_t>(
        std::clamp(products / kWorkOfTask, 1.0, static_cast<double>(kTasksOfKernel)));
    const std::int64_t cuts = strips == 0 ? 1 : (wanted + strips - 1) / strips;
    return WholeTilePanels((product.blocks() + cuts - 1) / cuts);
  }

  /// In pixels.
  std::int64_t LargestStrip() const { return std::min(strips.largest() * kTileRows, tiles.rows()); }

  /// Block sizes: tiles of pixels, output blocks.
  Ints Cut(const Attributes& attributes) { return CutIntoBlocks(attributes, {&strips, &outs}); }

  RowTiles tiles;    ///< of pixels
  EvenSplit strips;  ///< of tiles
  EvenSplit outs;    ///< of output blocks
};

/// Whether blocks of the image lie so that a strip of all of them does not fit into the places
/// that the second-level cache has for it: for sides that are powers of two.
bool CompetesForCache(const BlockedImage& in) {
  constexpr std::int64_t kWayBytes = 1 << 16;
  constexpr std::int64_t kWays = 8;
  constexpr std::int64_t kFloatBytes = sizeof(float);
  return in.blocks > kWays * (kWayBytes / std::gcd(in.BlockFloats() * kFloatBytes, kWayBytes));
}

struct BlockedPointwise {
  PointwiseProduct product;
  PointwiseBlocking blocking;
  bool channels_last;                               ///< of the result
  std::optional<SplitConv2d> split = std::nullopt;  ///< where a matrix unit is faster
  bool copies_strips = false;
  std::vector<std::int32_t> offsets_of_copy = {};
  std::int64_t copy_floats = 0;  ///< of a strip, behind the widened weights in scratch memory
  std::size_t scratch_bytes = 0;

  /// Results that are turned to channels last at a time: they stay in the second-level cache, and
  /// pixels are written whole, or in long pieces, one after the other.
  static constexpr std::int64_t kTurnedFloats = 1 << 16;
  static constexpr std::int64_t kTurnedBlocks = 64;

  std::int64_t TurnedBlocks() const { return std::min(kTurnedBlocks, blocking.outs.largest()); }
  std::int64_t TurnedPixels() const {
    return std::min(blocking.LargestStrip(), kTurnedFloats / (TurnedBlocks() * kBlock));
  }

  /// The output blocks of tasks: as estimated, unless few tasks make some workers wait for others.
  /// No result depends on it. Those of channels last have scratch memory for no more blocks.
  EvenSplit Outs(int workers) const {
    const std::int64_t strips = product.in().batch * blocking.strips.blocks();
    const std::int64_t tasks = strips * blocking.outs.blocks();
    if (tasks <= 1 || channels_last || AreSharedEvenly(tasks, workers)) return blocking.outs;
    return EvenSplit(product.blocks(), CeilDiv(product.blocks(), workers));
  }

  /// Floats from a block of a strip to the next in scratch memory.
  std::int64_t StripFloats() const { return blocking.LargestStrip() * kBlock; }

  /// Copying pays where several blocks read the copy.
  void PlanScratch() {
    constexpr std::int64_t kFewestReaders = 4;
    copies_strips = blocking.outs.largest() >= kFewestReaders && CompetesForCache(product.in());
    if (copies_strips) {
      offsets_of_copy = product.OffsetsOfCopy(StripFloats());
      copy_floats = product.in().blocks * StripFloats();
    }
    const std::int64_t turned = channels_last ? TurnedBlocks() * TurnedPixels() * kBlock : 0;
    scratch_bytes = split.has_value()
                        ? FloatScratchBytes(product.WidenedFloats()) + split->scratch_bytes()
                        : FloatScratchBytes(product.WidenedFloats() + copy_floats + turned);
  }

  PointwiseProduct::Pixels Copied(const PointwiseProduct::Pixels& pixels, float* copy) const {
    for (std::int64_t block = 0; block < product.in().blocks; ++block) {
      std::copy_n(pixels.x + block * product.in().BlockFloats(), pixels.count * kBlock,
                  copy + block * StripFloats());
    }
    return {.x = copy, .channel_offsets = offsets_of_copy.data(), .count = pixels.count};
  }

  /// Some output blocks of one strip of the image.
  void RunTask(const KernelArguments& args, const EvenSplit& outs, const TaskGrid& grid,
               std::int64_t index, int worker) const {
    const std::int64_t image = index / grid.count();
    const auto [strip, part] = grid.At(index % grid.count());
    const std::int64_t first_pixel = blocking.tiles.begin(blocking.strips.begin(strip));
    const std::int64_t last_pixel = blocking.tiles.begin(blocking.strips.end(strip));
    PointwiseProduct::Pixels pixels =
        product.PixelsOf(args, image, first_pixel, last_pixel - first_pixel);
    float* const widened = WorkerScratch(args, worker, scratch_bytes);
    float* const scratch = widened + product.WidenedFloats();
    if (copies_strips) pixels = Copied(pixels, scratch);
    const std::int64_t first = outs.begin(part);
    const std::int64_t last = outs.end(part);
    if (channels_last) {
      float* const y =
          args.out<float>(0) + (image * product.in().Pixels() + first_pixel) * product.channels();
      return RunTurned(args, pixels, first, last, y, scratch + copy_floats, widened);
    }
    RunPart(args, {image, first_pixel, last_pixel, first, last}, pixels, widened);
  }

  /// Some output blocks of some pixels, which may be copies.
  void RunPart(const KernelArguments& args, const ConvPart& part,
               const PointwiseProduct::Pixels& pixels, float* widened) const {
    const float* const residual = OptionalInput(args, 3);
    const std::int64_t block_floats = product.in().BlockFloats();
    const std::int64_t at = (part.image_group * product.blocks() + part.first_out) * block_floats +
                            part.first_pixel * kBlock;
    product.Run(args, pixels,
                {.first = part.first_out,
                 .count = part.last_out - part.first_out,
                 .residual = residual == nullptr ? nullptr : residual + at,
                 .y = args.out<float>(0) + at,
                 .block_floats = block_floats,
                 .widened = widened});
  }

  /// Output blocks [first, last) of a strip whose first pixel is y, channels last.
  void RunTurned(const KernelArguments& args, const PointwiseProduct::Pixels& pixels,
                 std::int64_t first, std::int64_t last, float* y, float* turned,
                 float* widened) const {
    const EvenSplit runs(pixels.count, TurnedPixels());
    for (std::int64_t run = 0; run < runs.blocks(); ++run) {
      const std::int64_t begin = runs.begin(run);
      const std::int64_t count = runs.end(run) - begin;
      for (std::int64_t block = first; block < last; block += kTurnedBlocks) {
        const std::int64_t end = std::min(block + kTurnedBlocks, last);
        product.Run(args, {pixels.x + begin * kBlock, pixels.channel_offsets, count},
                    {.first = block,
                     .count = end - block,
                     .residual = nullptr,
                     .y = turned,
                     .block_floats = count * kBlock,
                     .widened = widened});
        Turn(turned, block, end, count, y + begin * product.channels());
      }
    }
  }

  /// Writes output blocks [block, end) of `count` pixels, channels last, the first of them to y.
  void Turn(const float* turned, std::int64_t block, std::int64_t end, std::int64_t count,
            float* y) const {
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
      for (std::int64_t b = block; b < end; ++b) {
        CopyLanes(turned + ((b - block) * count + pixel) * kBlock,
                  std::min(kBlock, product.channels() - b * kBlock),
                  y + pixel * product.channels() + b * kBlock);
      }
    }
  }

  /// On the matrix unit, but for what is not finite.
  void RunSplit(const KernelArguments& args) const {
    const std::size_t offset = FloatScratchBytes(product.WidenedFloats());
    split->Run(args, offset, scratch_bytes, [&](const ConvPart& part, int worker) {
      RunPart(args, part,
              product.PixelsOf(args, part.image_group, part.first_pixel,
                               part.last_pixel - part.first_pixel),
              WorkerScratch(args, worker, scratch_bytes));
    });
  }

  void Run(const KernelArguments& args) const {
    if (split.has_value()) return RunSplit(args);
    const EvenSplit outs = Outs(args.pool->size());
    const TaskGrid grid = TaskGrid::OfStrips(blocking.strips.blocks(), outs.blocks(),
                                             PointwiseBlocking::HasSmallWeights(product));
    args.pool->Run(product.in().batch * grid.count(), [&](std::int64_t index, int worker) {
      RunTask(args, outs, grid, index, worker);
    });
  }
};

}  // namespace

BoundKernel BindBlockedPointwiseConv2d(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 2, 4);
  PointwiseProduct product(call, loops, call.attributes);
  const BlockedImage& in = product.in();
  const Window window =
      ResolveWindow(call.attributes, {in.height, in.width}, RequireKernelShape(call.attributes));
  Require(ReadsEveryPixelOnce(window), "the filter has more than a pixel, steps or padding");
  const bool channels_last = FlagAttribute(call, "channels_last", false);
  const TensorType last{ElementType::kFloat32, {in.batch, in.height, in.width, product.channels()}};
  const TensorType blocked = BlockedImageType(in.batch, product.channels(), in.height, in.width);
  RequireType(call.outputs[0], channels_last ? last : blocked, "output 0");
  Require(!channels_last || !InputOrAbsent(call, 3).defined(),
          "a residual, input 3, is not allowed with channels_last");
  RequireBlockedBiasAndResidual(call, product.channels());
  PointwiseBlocking blocking(product);
  const Ints block_sizes = blocking.Cut(call.attributes);
  const auto conv = std::make_shared<BlockedPointwise>(BlockedPointwise{
      .product = std::move(product), .blocking = blocking, .channels_last = channels_last});
  if (!channels_last && conv->product.IsPlain()) {
    SplitConvShape shape = conv->product.ShapeForUnit();
    shape.images = ImagesAtOnce(shape.in);
    conv->split = SplitConv2d::Plan(loops, shape, BlockedEpilogue(call.attributes));
  }
  conv->PlanScratch();
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
