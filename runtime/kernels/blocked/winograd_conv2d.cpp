#include "runtime/kernels/blocked/winograd_conv2d.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/direct_winograd.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/pack_winograd.hpp"
#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/blocked/winograd_tiling.hpp"
#include "runtime/kernels/blocked/winograd_transforms.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/fetch_ahead.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/panels_at_once.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

// A panel of weights of this depth stays in the first-level cache.
constexpr std::int64_t kDepth = 256;
// Panels of weights that pass over an element's tiles before the next element's are read, unless
// the tiles are so few that the kernels take more panels at once.
constexpr std::int64_t kPanels = 2;
// Output blocks that more than two threads should have each, so that it is worth it that each
// transforms all inputs of a strip.
constexpr std::int64_t kBlocksOfTransforming = 4;

/// `floats` rounded up to an odd number of cache lines: a transformed tile is written to all
/// elements side by side, which must not compete for the same places in the cache.
std::int64_t SpreadStride(std::int64_t floats) {
  return floats / kPanel % 2 == 0 ? floats + kPanel : floats;
}

/// Tiles of the channels of one group: outputs that are computed from the same inputs.
struct GroupStrip {
  TileRange tiles;
  std::int64_t group;
};

struct WinogradConv2d {
  const GemmMicroKernels* kernels;
  const WinogradTransforms* transforms;
  WinogradFilter filter;
  StoredPanels weights;        ///< one for every element of a block of output channels
  std::int64_t sums;           ///< of a product: 1, or the parts where spare lanes lie between them
  std::int64_t depth_of_sums;  ///< input channels of a group, of all parts where that is one sum
  std::int64_t groups;
  std::int64_t in_blocks;   ///< of input channels of a group
  std::int64_t out_blocks;  ///< of output channels of a group
  BlockedImage in;
  BlockedImage out;
  TileAxis rows;
  TileAxis columns;
  EvenSplit strips;
  EvenSplit depth;
  Epilogue epilogue;
  std::int64_t panels = kPanels;  ///< output blocks whose products are computed together
  // The scratch memory, in floats; see TransformInputs and Multiply.
  std::int64_t input_stride = 0;            ///< from one tile's channels to the next tile's
  std::int64_t input_element_stride = 0;    ///< from one element to the next
  std::int64_t product_element_stride = 0;  ///< from one element to the next
  std::size_t scratch_bytes = 0;

  std::int64_t Elements() const { return filter.elements(); }

  void PlanScratch() {
    const std::int64_t tiles = strips.largest();
    const auto inputs = CheckedElementCount({Elements(), tiles, filter.parts(), in_blocks, kPanel});
    Require(inputs.has_value(), "the transformed input is too large");
    FloatScratchBytes(*inputs);  // or throws: from here on nothing overflows
    input_stride = filter.parts() * in_blocks * kPanel;
    input_element_stride = SpreadStride(tiles * input_stride);
    product_element_stride = SpreadStride(tiles * kPanel);
    scratch_bytes =
        FloatScratchBytes(Elements() * (input_element_stride + panels * product_element_stride) +
                          weights.WidenedFloats(panels, depth.largest()));
  }

  void Run(const KernelArguments& args) const {
    // The results are the same in both cases.
    if (EachTransforms(args.pool->size())) return RunSeparateTasks(args);
    for (std::int64_t i = 0; i < Strips(); ++i) RunSharedInputs(args, StripAt(i));
  }

  /// Of all groups.
  std::int64_t Strips() const { return groups * strips.blocks(); }

  /// Whether threads have so many outputs, or strips, that each can transform all inputs of its
  /// own.
  bool EachTransforms(int workers) const {
    const std::int64_t blocks = workers <= 2 ? kPanels : kBlocksOfTransforming;
    const bool have_few_outputs = Strips() > 1 && out_blocks <= workers;
    return have_few_outputs || blocks * workers <= Strips() * out_blocks;
  }

  /// Strip i of those of all groups.
  GroupStrip StripAt(std::int64_t i) const {
    const std::int64_t of_group = i % strips.blocks();
    return {{strips.begin(of_group), strips.end(of_group)}, i / strips.blocks()};
  }

  /// A tile's first output.
  struct Place {
    std::int64_t image;
    std::int64_t row;
    std::int64_t column;
  };
  Place PlaceOf(std::int64_t t) const {
    return {.image = t / (rows.tiles() * columns.tiles()),
            .row = rows.Begin(t / columns.tiles() % rows.tiles()),
            .column = columns.Begin(t % columns.tiles())};
  }

  float* Inputs(const KernelArguments& args, int worker) const {
    return WorkerScratch(args, worker, scratch_bytes);
  }
  float* Products(const KernelArguments& args, int worker) const {
    return Inputs(args, worker) + Elements() * input_element_stride;
  }
  /// Behind the products that begin there: short panels that were widened.
  float* Widened(float* products) const {
    return products + panels * Elements() * product_element_stride;
  }

  /// Threads share out the strips, and the output channels of those that they share. Each
  /// transforms all inputs of its strips, which takes less long than fetching what another core has
  /// transformed.
  void RunSeparateTasks(const KernelArguments& args) const {
    const EvenSplit blocks(out_blocks, BlocksOfTask(args.pool->size()));
    // By each worker: number of the last strip, from 1.
    std::array<std::int64_t, ThreadPool::kMostWorkers> transformed{};
    args.pool->Run(Strips() * blocks.blocks(), [&](std::int64_t task, int worker) {
      const std::int64_t number = task / blocks.blocks();
      const GroupStrip strip = StripAt(number);
      float* const inputs = Inputs(args, worker);
      std::int64_t& last = transformed[static_cast<std::size_t>(worker)];
      if (last != number + 1) TransformInputs(args, strip, 0, in_blocks, inputs);
      last = number + 1;
      const std::int64_t part = task % blocks.blocks();
      ComputeOutputs(args, strip, blocks.begin(part), blocks.end(part), inputs,
                     Products(args, worker));
    });
  }

  /// Output blocks of a task: those whose weights are read together, unless few of these make some
  /// workers wait for others.
  std::int64_t BlocksOfTask(int workers) const {
    const bool is_even = AreSharedEvenly(Strips() * CeilDiv(out_blocks, panels), workers);
    return is_even ? panels : CeilDiv(out_blocks, workers);
  }

  /// Threads, more than there are outputs for, share out the transforms of a strip, too.
  void RunSharedInputs(const KernelArguments& args, const GroupStrip& strip) const {
    float* const inputs = Inputs(args, 0);
    args.pool->Run(in_blocks, [&](std::int64_t block, int) {
      TransformInputs(args, strip, block, block + 1, inputs);
    });
    args.pool->Run(out_blocks, [&](std::int64_t block, int worker) {
      ComputeOutputs(args, strip, block, block + 1, inputs, Products(args, worker));
    });
  }

  /// inputs[element][tile of the strip][part of the filter][channel of the group] for the channels
  /// of some blocks of the group.
  void TransformInputs(const KernelArguments& args, const GroupStrip& strip,
                       std::int64_t first_block, std::int64_t last_block, float* inputs) const {
    for (std::int64_t block = first_block; block < last_block; ++block) {
      for (std::int64_t t = strip.tiles.begin; t < strip.tiles.end; ++t) {
        const Place place = PlaceOf(t);
        const float* image =
            args.in<float>(0) +
            (place.image * in.blocks + strip.group * in_blocks + block) * in.BlockFloats();
        float* target = inputs + block * kPanel + (t - strip.tiles.begin) * input_stride;
        for (std::int64_t p = 0; p < filter.parts(); ++p) {
          TransformInput(image, place, p, target);
          target += in_blocks * kPanel;
        }
      }
    }
  }

  /// 16 channels of a tile as a part of the filter meets it.
  void TransformInput(const float* image, const Place& place, std::int64_t part,
                      float* target) const {
    const std::int64_t first_tap_row = part / filter.columns.parts * filter.rows.taps;
    const std::int64_t first_tap_column = part % filter.columns.parts * filter.columns.taps;
    const std::int64_t row = place.row - rows.pad + first_tap_row * rows.dilation;
    const std::int64_t column = place.column - columns.pad + first_tap_column * columns.dilation;
    const PixelsInside inside_rows(row, rows.step, filter.rows.side, in.height);
    const PixelsInside inside_columns(column, columns.step, filter.columns.side, in.width);
    transforms->input({.image = image,
                       .row_stride = rows.step * in.width * kPanel,
                       .column_stride = columns.step * kPanel,
                       .offset = (row * in.width + column) * kPanel,
                       .first_row = inside_rows.begin,
                       .last_row = inside_rows.end,
                       .first_column = inside_columns.begin,
                       .last_column = inside_columns.end,
                       .target = target,
                       .element_stride = input_element_stride});
  }

  /// The output channels of some blocks of the group.
  void ComputeOutputs(const KernelArguments& args, const GroupStrip& strip,
                      std::int64_t first_block, std::int64_t last_block, const float* inputs,
                      float* products) const {
    const std::int64_t before = strip.group * out_blocks;
    for (std::int64_t first = before + first_block; first < before + last_block; first += panels) {
      const std::int64_t last = std::min(first + panels, before + last_block);
      Multiply(args, strip.tiles, first, last, inputs, products);
      for (std::int64_t block = first; block < last; ++block) {
        TransformProducts(args, strip.tiles, block,
                          products + (block - first) * Elements() * product_element_stride);
      }
    }
  }

  /// products[block][element][tile of the strip][16].
  void Multiply(const KernelArguments& args, TileRange tiles, std::int64_t first_block,
                std::int64_t last_block, const float* inputs, float* products) const {
    const RegisterTiles row_tiles(tiles.count(), kernels->rows);
    for (std::int64_t element = 0; element < Elements(); ++element) {
      for (std::int64_t block = first_block; block < last_block;) {
        const int count = PanelsAtOnce(*kernels, tiles.count(), last_block - block);
        const std::int64_t panel = block * Elements() + element;
        const std::int64_t next = block + count < last_block
                                      ? panel + count * Elements()
                                      : first_block * Elements() + element + 1;
        MultiplyPanels(
            row_tiles, inputs + element * input_element_stride, args.inputs[1],
            {panel, count, next},
            products + ((block - first_block) * Elements() + element) * product_element_stride,
            Widened(products));
        block += count;
      }
    }
  }

  /// Panels of an element, from `first` on, and the one that is read behind them.
  struct ElementPanels {
    std::int64_t first;
    int count;
    std::int64_t next;
  };

  /// An element's products with panels, which are widened to `widened` if they are short.
  void MultiplyPanels(const RegisterTiles& row_tiles, const float* a, const std::byte* first_panel,
                      const ElementPanels& b, float* products, float* widened) const {
    const std::int64_t pieces = sums * depth.blocks();
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::int64_t sum = i / depth.blocks();
      const std::int64_t k = depth.begin(i % depth.blocks());
      const std::int64_t rows_of_piece = depth.end(i % depth.blocks()) - k;
      const float* const from = a + sum * in_blocks * kPanel + k;
      const std::int64_t first_row = sum * depth_of_sums + k;
      const PanelsView view =
          weights.View(*kernels, first_panel, b.first, b.count, first_row, rows_of_piece, widened);
      const auto* const data = static_cast<const float*>(view.data);
      const auto* const ahead = reinterpret_cast<const float*>(
          i + 1 == pieces ? weights.At(first_panel, b.next, 0)
                          : weights.At(first_panel, b.first, first_row + rows_of_piece));
      const FetchAhead fetch(row_tiles.count(), rows_of_piece, sizeof(float));
      for (std::int64_t t = 0; t < row_tiles.count(); ++t) {
        const std::int64_t row = row_tiles.begin(t);
        kernels->row_major_f32(
            row_tiles.size(t), from + row * input_stride, input_stride,
            {data, view.stride, b.count}, rows_of_piece, fetch.Of(t, data, ahead),
            {products + row * kPanel, Elements() * product_element_stride}, i > 0);
      }
    }
  }

  /// Writes 16 channels of the strip's outputs.
  void TransformProducts(const KernelArguments& args, TileRange tiles, std::int64_t block,
                         const float* products) const {
    const float* bias = BiasOfBlock(args, block);
    const float* residual = OptionalInput(args, 3);
    for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
      const auto [image, row, column] = PlaceOf(t);
      const std::int64_t start =
          (((image * out.blocks + block) * out.height + row) * out.width + column) * kPanel;
      transforms->output(
          epilogue,
          {.products = products + (t - tiles.begin) * kPanel,
           .element_stride = product_element_stride,
           .bias = bias,
           .residual = residual == nullptr ? nullptr : residual + start,
           .out = args.out<float>(0) + start,
           .row_stride = rows.step * out.width * kPanel,
           .column_stride = columns.step * kPanel,
           .rows = std::min(filter.rows.tile, CeilDiv(out.height - row, rows.step)),
           .columns = std::min(filter.columns.tile, CeilDiv(out.width - column, columns.step))});
    }
  }
};

Window RequireWindow(const Attributes& attributes, const BlockedImage& image, const Ints& kernel) {
  Window window = ResolveWindow(attributes, {image.height, image.width}, kernel);
  Require(window.strides == Ints{1, 1}, "Winograd convolution needs strides of 1");
  return window;
}

const WinogradTransforms& TransformsOf(const WinogradKernels& kernels,
                                       const WinogradFilter& filter) {
  if (filter.rows.tile == 1) return kernels.of_1x4;
  if (filter.columns.tile == 1) return kernels.of_4x1;
  return filter.rows.tile == 2 ? kernels.of_2x2 : kernels.of_4x4;
}

/// The number of groups, each of which has whole blocks of channels where there are several.
std::int64_t RequireGroups(const Attributes& attributes, std::int64_t channels, std::int64_t outs) {
  const std::int64_t group = attributes.get_int("group", 1);
  Require(group == 1 || (group > 1 && channels % group == 0 && outs % group == 0 &&
                         channels / group % kBlock == 0 && outs / group % kBlock == 0),
          "attribute group is " + std::to_string(group) + ", which does not cut " +
              std::to_string(channels) + " input and " + std::to_string(outs) +
              " output channels into whole blocks of 16");
  return group;
}

}  // namespace

BoundKernel BindWinogradConv2d(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 2, 4);
  const std::int64_t tile = RequirePositive(call.attributes, "tile");
  const std::int64_t channels = RequirePositive(call.attributes, "in_channels");
  const std::int64_t outs = RequirePositive(call.attributes, "out_channels");
  const std::int64_t group = RequireGroups(call.attributes, channels, outs);
  const std::int64_t depth = channels / group;
  const Ints kernel = RequireKernelShape(call.attributes);
  const WinogradFilter filter = RequireWinogradFilter(kernel, tile);
  const TensorType panels = PackedWinogradType(outs, depth, kernel, tile);
  const bool are_scaled = call.inputs[1].element == ElementType::kInt32;
  RequireType(call.inputs[1], are_scaled ? ScaledPanelsType(panels) : panels,
              "the weights, input 1,");
  const BlockedImage in = RequireBlockedImage(call.inputs[0], channels, "input 0");
  const Window window = RequireWindow(call.attributes, in, kernel);
  const Shape out = WindowOutputExtents(window, {in.height, in.width}, false);
  RequireType(call.outputs[0], BlockedImageType(in.batch, outs, out[0], out[1]), "output 0");
  RequireBlockedBiasAndResidual(call, outs);
  const Epilogue epilogue = EpilogueWithActivation(call.attributes);

  if (RequireCount(call.outputs[0].shape, "output 0") == 0) return NothingToRun();
  RequireSmallOffsets(window, in.height, in.width);
  const TileAxis rows(filter.rows, window.pads_begin[0], window.dilations[0], out[0]);
  const TileAxis columns(filter.columns, window.pads_begin[1], window.dilations[1], out[1]);
  // The channels of a part of the filter follow those of the part before, unless spare lanes are
  // between them.
  const bool is_one_sum = filter.parts() == 1 || depth % kBlock == 0;
  Require(is_one_sum || !are_scaled, "scaled weights are for whole blocks of input channels");
  const std::int64_t depth_of_sums = is_one_sum ? filter.parts() * depth : depth;
  const auto conv = std::make_shared<WinogradConv2d>(
      WinogradConv2d{.kernels = &loops.gemm,
                     .transforms = &TransformsOf(loops.winograd, filter),
                     .filter = filter,
                     .weights = {.element = call.inputs[1].element,
                                 .depth = filter.parts() * depth,
                                 .step = filter.elements()},
                     .sums = is_one_sum ? 1 : filter.parts(),
                     .depth_of_sums = depth_of_sums,
                     .groups = group,
                     .in_blocks = in.blocks / group,
                     .out_blocks = BlocksOf(outs) / group,
                     .in = in,
                     .out = {in.batch, BlocksOf(outs), out[0], out[1]},
                     .rows = rows,
                     .columns = columns,
                     .strips = SplitTiles(in.batch * rows.tiles() * columns.tiles(), filter, depth),
                     .depth = EvenSplit(depth_of_sums, kDepth, kScaledBlock),
                     .epilogue = epilogue});
  Ints block_sizes = CutIntoBlocks(call.attributes, {&conv->strips, &conv->depth});
  if (are_scaled) {
    conv->depth =
        conv->depth.WithLargest(CeilDiv(conv->depth.largest(), kScaledBlock) * kScaledBlock);
    block_sizes.back() = conv->depth.largest();
  }
  if (const auto direct = DirectWinograd::Plan(loops,
                                               {.in = conv->in,
                                                .out = conv->out,
                                                .group = group,
                                                .channels = depth,
                                                .window = window,
                                                .filter = filter,
                                                .are_scaled = are_scaled,
                                                .tiles = rows.tiles() * columns.tiles()},
                                               call.attributes)) {
    const auto shared = std::make_shared<const DirectWinograd>(*direct);
    return {.run = [shared](const KernelArguments& args) { shared->Run(args); },
            .scratch_bytes = shared->scratch_bytes(),
            .block_sizes = block_sizes};
  }
  if (conv->strips.largest() <= kTileRows) conv->panels = kMostTilePanels;
  conv->PlanScratch();
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
