#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/depthwise_filter.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/pointwise_product.hpp"
#include "runtime/kernels/blocked/split_conv2d.hpp"
#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/blocked/window_areas.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {
namespace {

/// Floats of the rows between the two convolutions that stay in the second-level cache.
constexpr std::int64_t kRowsFloats = 1 << 16;
/// The same of all planes whose products a matrix unit computes at once.
constexpr std::int64_t kRowsFloatsOfUnit = 1 << 17;
// Smaller tasks cost more to hand out than to run; fewer tasks leave threads idle.
constexpr double kWorkOfTask = 1 << 18;
constexpr std::int64_t kTasks = 16;
constexpr std::int64_t kTasksOfBands = 8;
/// Bands have so many times the rows that two of them share, which two threads both compute.
constexpr std::int64_t kBandOfShared = 2;

constexpr std::size_t kFilters = 3;
constexpr std::size_t kFilterBias = 4;

/// Input rows that neighbouring output rows both need.
std::int64_t SharedRows(const Window& window) {
  return std::max<std::int64_t>(0, window.Reach(0) - window.strides[0]);
}

/// The most output rows, up to `most`, that need at most so many floats of a plane; at least one.
std::int64_t StripRows(const PointwiseProduct& product, const Window& window, std::int64_t floats,
                       std::int64_t most) {
  const std::int64_t rows = floats / std::max<std::int64_t>(1, product.in().width * kBlock);
  const std::int64_t more = std::max<std::int64_t>(0, rows - window.Reach(0));
  return std::min(1 + more / window.strides[0], std::max<std::int64_t>(1, most));
}

/// How the work is cut: some blocks of channels each, or a band of rows of one.
struct PairBlocking {
  PairBlocking(const PointwiseProduct& product, const Window& window, std::int64_t out_height)
      : planes(Planes(product), PlanesOfTask(product), kTilePanels),
        bands(out_height, BandRows(window, out_height)),
        strips(out_height, StripRows(product, window, kRowsFloats, bands.largest())) {}

  static std::int64_t Planes(const PointwiseProduct& product) {
    return product.in().batch * product.blocks();
  }
  static std::int64_t PlanesOfTask(const PointwiseProduct& product) {
    const double products =
        static_cast<double>(product.in().Pixels()) *
        static_cast<double>(std::max<std::int64_t>(1, product.ProductsOfBlock()));
    const auto worthwhile = static_cast<std::int64_t>(
        std::clamp(kWorkOfTask / std::max(1.0, products), 1.0, kWorkOfTask));
    return WholeTilePanels(std::clamp<std::int64_t>(Planes(product) / kTasks, 1, worthwhile));
  }
  std::int64_t BandRows(const Window& window, std::int64_t out_height) const {
    const std::int64_t blocks = std::max<std::int64_t>(1, planes.blocks());
    std::int64_t wanted = (kTasksOfBands + blocks - 1) / blocks;
    // An even number of tasks, since most machines have an even number of processors.
    if (wanted > 1) wanted += wanted * blocks % 2;
    const std::int64_t least = kBandOfShared * SharedRows(window) / window.strides[0];
    return std::max({std::int64_t{1}, least, (out_height + wanted - 1) / wanted});
  }
  /// Block sizes: planes, output rows of a task, output rows that are computed at a time.
  Ints Cut(const Attributes& attributes) {
    return CutIntoBlocks(attributes, {&planes, &bands, &strips});
  }

  EvenSplit planes;  ///< without a matrix unit
  EvenSplit bands;   ///< of output rows
  EvenSplit strips;  ///< of output rows; those of a band are of the same size
};

/// A convolution of single pixels and the depthwise convolution of its result, which exists in
/// scratch memory only, some rows of some blocks of channels at a time. Rows that two strips share
/// are kept, and for every plane those that a worker may need for the band behind.
struct PointwiseDepthwise {
  PointwiseProduct product;
  DepthwiseFilter filter;
  BlockedImage out;
  Window window;
  PairBlocking blocking;
  std::optional<SplitConv2d> split = std::nullopt;  ///< where a matrix unit is faster
  std::int64_t planes_at_once = product.BlocksAtOnce();
  std::int64_t strip_rows = 1;    ///< output rows that are computed at a time
  std::int64_t plane_floats = 0;  ///< of the rows of a plane in scratch memory
  std::int64_t kept_floats = 0;   ///< of those that are kept behind a band, 0 where there is one

  /// Scratch memory of a worker.
  struct Memory {
    float* rows;       ///< plane_floats of each plane that is computed at once
    float* kept_rows;  ///< kept_floats of each plane, from the first row of its range on
    RowRange* kept;    ///< of each plane
    std::byte* split;  ///< of the matrix unit
  };

  std::int64_t RowFloats() const { return product.in().width * kBlock; }
  /// Of which rows are kept behind a band.
  std::int64_t KeptPlanes() const {
    return blocking.bands.blocks() > 1 ? out.batch * out.blocks : 0;
  }

  Memory MemoryOf(const KernelArguments& args, int worker) const {
    float* const rows = WorkerScratch(args, worker, ScratchBytes());
    float* const kept_rows = rows + planes_at_once * plane_floats;
    return {rows, kept_rows, reinterpret_cast<RowRange*>(kept_rows + KeptPlanes() * kept_floats),
            reinterpret_cast<std::byte*>(rows) + RowsBytes()};
  }
  std::size_t ScratchBytes() const {
    return RowsBytes() + (split.has_value() ? split->scratch_bytes() : 0);
  }
  /// Of those but what a matrix unit needs.
  std::size_t RowsBytes() const {
    constexpr auto kRangeFloats = static_cast<std::int64_t>(sizeof(RowRange) / sizeof(float));
    return FloatScratchBytes(planes_at_once * plane_floats +
                             KeptPlanes() * (kept_floats + kRangeFloats));
  }

  /// Keeps the last of the rows for the next band of some planes.
  void Keep(const Memory& memory, std::int64_t plane, std::int64_t count, RowRange rows) const {
    const RowRange last{std::max(rows.first, rows.last - SharedRows(window)), rows.last};
    for (std::int64_t p = 0; p < count; ++p) {
      memory.kept[plane + p] = last;
      std::copy_n(memory.rows + p * plane_floats + (last.first - rows.first) * RowFloats(),
                  last.count() * RowFloats(), memory.kept_rows + (plane + p) * kept_floats);
    }
  }

  /// Some pixels of the result of the first convolution, the first of them and of its blocks to y.
  void Multiply(const KernelArguments& args, const ConvPart& part, float* y,
                std::byte* split_memory) const {
    if (split.has_value()) {
      return split->RunPart(args, part, {nullptr, y, plane_floats}, split_memory,
                            [&](const ConvPart& rest) {
                              MultiplyPart(args, rest,
                                           y + (rest.first_out - part.first_out) * plane_floats +
                                               (rest.first_pixel - part.first_pixel) * kBlock);
                            });
    }
    MultiplyPart(args, part, y);
  }

  /// The same without a matrix unit.
  void MultiplyPart(const KernelArguments& args, const ConvPart& part, float* y) const {
    product.Run(args,
                product.PixelsOf(args, part.image_group, part.first_pixel,
                                 part.last_pixel - part.first_pixel),
                {.first = part.first_out,
                 .count = part.last_out - part.first_out,
                 .residual = nullptr,
                 .y = y,
                 .block_floats = plane_floats});
  }

  /// Some planes of one image.
  void RunBand(const KernelArguments& args, std::int64_t plane, std::int64_t count,
               std::int64_t band, const Memory& memory) const {
    const std::int64_t image = plane / out.blocks;
    const std::int64_t block = plane % out.blocks;
    const std::int64_t width = product.in().width;
    float* const rows = memory.rows;
    const bool keeps = KeptPlanes() > 0;
    // Where the rows of the strip or the band before are.
    RowRange kept = keeps ? memory.kept[plane] : RowRange{0, 0};
    const float* kept_rows = memory.kept_rows + plane * kept_floats;
    std::int64_t kept_step = kept_floats;
    for (std::int64_t row = blocking.bands.begin(band); row < blocking.bands.end(band);
         row += strip_rows) {
      const std::int64_t end = std::min(row + strip_rows, blocking.bands.end(band));
      const RowRange needed = InputRows(window, product.in().height, row, end);
      const std::int64_t shared_last = kept.first <= needed.first ? kept.last : needed.first;
      const RowRange shared{needed.first, std::clamp(shared_last, needed.first, needed.last)};
      for (std::int64_t p = 0; p < count && shared.count() > 0; ++p) {
        const float* const from =
            kept_rows + p * kept_step + (shared.first - kept.first) * RowFloats();
        std::copy(from, from + shared.count() * RowFloats(), rows + p * plane_floats);
      }
      const std::int64_t first_pixel = (needed.first + shared.count()) * width;
      Multiply(args,
               {.image_group = image,
                .first_pixel = first_pixel,
                .last_pixel = needed.last * width,
                .first_out = block,
                .last_out = block + count},
               rows + shared.count() * RowFloats(), memory.split);
      for (std::int64_t p = 0; p < count; ++p) {
        filter.Run({.x = rows + p * plane_floats, .first = needed.first},
                   filter.Weights(args.inputs[kFilters], block + p),
                   BiasOfBlock(args, block + p, kFilterBias), row, end, nullptr,
                   args.out<float>(0) + (plane + p) * out.BlockFloats());
      }
      kept = needed;
      kept_rows = rows;
      kept_step = plane_floats;
    }
    if (keeps) Keep(memory, plane, count, kept);
  }

  void Run(const KernelArguments& args) const {
    const EvenSplit plane_blocks = PlaneBlocks(args.pool->size());
    const TaskGrid grid =
        TaskGrid::OfPlanes(out.batch, blocking.bands.blocks(), plane_blocks.blocks());
    for (int worker = 0; worker < args.pool->size(); ++worker) {
      std::fill_n(MemoryOf(args, worker).kept, KeptPlanes(), RowRange{0, 0});
    }
    args.pool->Run(grid.count(), [&](std::int64_t index, int worker) {
      const Memory memory = MemoryOf(args, worker);
      const auto [band, planes] = grid.At(index);
      for (std::int64_t p = plane_blocks.begin(planes); p < plane_blocks.end(planes);) {
        const std::int64_t count =
            std::min({planes_at_once, out.blocks - p % out.blocks, plane_blocks.end(planes) - p});
        RunBand(args, p, count, band, memory);
        p += count;
      }
    });
  }

  /// How planes are cut into tasks. Each has the matrix unit split its pixels, so that planes of
  /// the same band of an image are cut for workers only that have no band of their own.
  EvenSplit PlaneBlocks(std::int64_t workers) const {
    if (!split.has_value()) return blocking.planes;
    const std::int64_t bands =
        std::max<std::int64_t>(1, out.batch == 1 ? blocking.bands.blocks() : 1);
    const std::int64_t tasks = std::max<std::int64_t>(1, CeilDiv(workers, bands));
    return blocking.planes.WithLargest(
        std::max<std::int64_t>(1, CeilDiv(blocking.planes.count(), tasks)));
  }

  /// Floats of a plane's rows that so many output rows need.
  std::int64_t PlaneFloats(std::int64_t strip) const {
    const std::int64_t rows = (strip - 1) * window.strides[0] + window.Reach(0);
    return std::min(product.in().height, rows) * RowFloats();
  }

  void PlanRows() {
    Require(CheckedElementCount({blocking.strips.largest(), window.strides[0]}).has_value(),
            "the window spans too large an area");
    strip_rows = std::max<std::int64_t>(1, blocking.strips.largest());
    plane_floats = PlaneFloats(strip_rows);
    if (KeptPlanes() > 0) kept_floats = std::min(plane_floats, SharedRows(window) * RowFloats());
  }

  /// Uses a matrix unit for the first convolution where that is faster. It computes few rows of
  /// many planes, so that their pixels are split once.
  void PlanUnit(const InnerLoops& loops, const Attributes& inner) {
    if (!product.IsPlain()) return;
    const std::int64_t rows =
        StripRows(product, window, kRowsFloatsOfUnit / out.blocks, strip_rows);
    const std::int64_t floats = PlaneFloats(rows);
    SplitConvShape at_once = product.ShapeForUnit();
    at_once.out.width = floats / kBlock;
    at_once.out_blocks =
        std::min(out.blocks, kRowsFloatsOfUnit / std::max<std::int64_t>(1, floats));
    split = SplitConv2d::Plan(loops, at_once, BlockedEpilogue(inner));
    if (!split.has_value()) return;
    strip_rows = rows;
    plane_floats = floats;
    planes_at_once = at_once.out_blocks;
  }
};

/// The attributes of the activation between the convolutions, as EpilogueWithActivation reads them.
Attributes InnerActivation(const Attributes& attributes) {
  Attributes inner;
  for (const auto& [name, value] : attributes.entries()) {
    constexpr std::string_view kPrefix = "inner_";
    if (name.starts_with(kPrefix)) inner.set(name.substr(kPrefix.size()), value);
  }
  return inner;
}

}  // namespace

BoundKernel BindBlockedPointwiseDepthwise(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 2, 5);
  Require(InputOrAbsent(call, kFilters).defined(), "input 3 is missing");
  const Attributes inner = InnerActivation(call.attributes);
  RequireHalfOrFloat(call.inputs[1].element, "the weights, input 1,");
  PointwiseProduct product(call, loops, inner);
  const BlockedImage& in = product.in();
  const std::int64_t channels = product.channels();
  const TensorType bias{ElementType::kFloat32, {BlocksOf(channels) * kBlock}};
  for (const std::size_t i : {std::size_t{2}, kFilterBias}) {
    const TensorType& found = InputOrAbsent(call, i);
    if (found.defined()) RequireType(found, bias, "the bias, input " + std::to_string(i) + ",");
  }
  const TensorType& filters = call.inputs[kFilters];
  const Ints kernel = RequireKernelShape(call.attributes);
  const auto taps = CheckedElementCount(kernel);
  Require(taps.has_value(), "the filter is too large");
  const bool half_filters = RequireHalfOrFloat(filters.element, "the filters, input 3,");
  RequireType(filters, PackedBlockedDepthwiseType(channels, *taps, filters.element),
              "the filters, input 3,");
  Window window = ResolveWindow(call.attributes, {in.height, in.width}, kernel);
  const Shape extents = WindowOutputExtents(window, {in.height, in.width}, false);
  RequireType(call.outputs[0], BlockedImageType(in.batch, channels, extents[0], extents[1]),
              "output 0");
  RequireSmallOffsets(window, in.height, in.width);

  const BlockedImage out{in.batch, product.blocks(), extents[0], extents[1]};
  DepthwiseFilter filter(loops.conv, window, in, out, half_filters, call.attributes);
  PairBlocking blocking(product, window, out.height);
  const Ints block_sizes = blocking.Cut(call.attributes);
  const auto pair =
      std::make_shared<PointwiseDepthwise>(PointwiseDepthwise{.product = std::move(product),
                                                              .filter = std::move(filter),
                                                              .out = out,
                                                              .window = std::move(window),
                                                              .blocking = blocking});
  pair->PlanRows();
  pair->PlanUnit(loops, inner);
  return {.run = [pair](const KernelArguments& args) { pair->Run(args); },
          .scratch_bytes = pair->ScratchBytes(),
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
