#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/gemv_kernels.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/thin_conv2d.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

// A panel of pixels of this depth stays in the first-level cache while all register tiles of a
// block of channels pass over it; their weights stay in the second-level cache from one panel to
// the next.
constexpr std::int64_t kDepth = 384;
constexpr std::int64_t kPixelPanels = 8;
constexpr std::int64_t kChannelTiles = 22;
constexpr std::int64_t kTasks = 4;

/// Output columns for which one column of the filter lies inside the image.
struct ColumnRange {
  std::int64_t begin;
  std::int64_t end;
};

/// Consecutive output pixels of one output row within a panel.
struct PixelRun {
  std::int64_t row;
  std::int64_t column;
  std::int64_t at;
  std::int64_t count;
};

/// The output pixels of one panel.
struct PanelPixels {
  std::array<PixelRun, kPanel> runs;
  std::size_t run_count = 0;
};

/// How the work is cut; estimated from sizes only.
struct Conv2dBlocking {
  Conv2dBlocking(std::int64_t images, std::int64_t tiles, std::int64_t panels,
                 std::int64_t depth_all)
      : channel_tiles(tiles, kChannelTiles),
        pixel_panels(panels, LargestPanels(images * channel_tiles.blocks(), panels)),
        depth(depth_all, kDepth) {}

  static std::int64_t LargestPanels(std::int64_t tasks, std::int64_t panels) {
    std::int64_t largest = kPixelPanels;
    // Halves while that makes more tasks: a small image is better shared than its weights reread.
    while (largest > 2 && tasks * EvenSplit(panels, largest).blocks() < kTasks) largest /= 2;
    return largest;
  }

  /// Block sizes: tiles of output channels, panels of pixels, depth.
  Ints Cut(const Attributes& attributes) {
    return CutIntoBlocks(attributes, {&channel_tiles, &pixel_panels, &depth});
  }

  EvenSplit channel_tiles;
  EvenSplit pixel_panels;
  EvenSplit depth;
};

struct Conv2d {
  const GemmMicroKernels* kernels;
  std::int64_t batch;
  std::int64_t group;
  std::int64_t channels;  ///< input channels of a group
  std::int64_t height;
  std::int64_t width;
  std::int64_t out_width;
  std::int64_t out_pixels;
  Window window;
  bool half;
  bool half_weights;
  Epilogue epilogue;
  RowTiles tiles;  ///< output channels of a group
  Conv2dBlocking blocking;
  std::vector<ColumnRange> column_ranges;  ///< per column of the filter
  // Parts of the scratch memory, in floats.
  std::int64_t panel_floats = 0;
  std::int64_t result_floats = 0;
  std::size_t scratch_bytes = 0;

  std::int64_t Depth() const { return channels * window.kernel[0] * window.kernel[1]; }

  PanelPixels PixelsOf(std::int64_t panel) const {
    PanelPixels pixels;
    const std::int64_t first = panel * kPanel;
    const std::int64_t count = std::min(kPanel, out_pixels - first);
    std::int64_t row = first / out_width;
    std::int64_t column = first % out_width;
    for (std::int64_t at = 0; at < count; ++row, column = 0) {
      const std::int64_t run = std::min(out_width - column, count - at);
      pixels.runs[pixels.run_count++] = {.row = row, .column = column, .at = at, .count = run};
      at += run;
    }
    return pixels;
  }

  /// Where the pixels of a panel find their value for one tap; returns how many segments.
  std::int64_t SegmentsOf(const PanelPixels& pixels, std::int64_t tap_row, std::int64_t tap_column,
                          std::array<PanelSegment, kPanel>& segments) const {
    std::size_t count = 0;
    const ColumnRange& range = column_ranges[static_cast<std::size_t>(tap_column)];
    const std::int64_t row_shift = tap_row * window.dilations[0] - window.pads_begin[0];
    const std::int64_t column_shift = tap_column * window.dilations[1] - window.pads_begin[1];
    for (std::size_t i = 0; i < pixels.run_count; ++i) {
      const PixelRun& run = pixels.runs[i];
      const std::int64_t row = run.row * window.strides[0] + row_shift;
      const std::int64_t begin = std::max(run.column, range.begin);
      const std::int64_t end = std::min(run.column + run.count, range.end);
      if (row < 0 || row >= height || begin >= end) continue;
      segments[count++] = {.offset = row * width + begin * window.strides[1] + column_shift,
                           .at = run.at + begin - run.column,
                           .count = end - begin};
    }
    return static_cast<std::int64_t>(count);
  }

  /// panel[i][pixel] = the input that depth k + i of the weights meets at that pixel.
  void PackPanel(const KernelArguments& args, std::int64_t first_channel, const PanelPixels& pixels,
                 std::int64_t k, std::int64_t k_end, float* panel) const {
    std::array<PanelSegment, kPanel> segments;
    const std::int64_t plane = height * width;
    const std::int64_t all = batch * group * channels * plane;
    while (k < k_end) {
      const std::int64_t tap = k / channels;
      const std::int64_t channel = k % channels;
      const std::int64_t rows = std::min(channels - channel, k_end - k);
      const std::int64_t segment_count =
          SegmentsOf(pixels, tap / window.kernel[1], tap % window.kernel[1], segments);
      const std::int64_t offset = (first_channel + channel) * plane;
      if (half) {
        const auto* source = args.in<std::uint16_t>(0);
        kernels->gather_f16(source + offset, plane, rows, segments.data(), segment_count,
                            window.strides[1], source + all, panel);
      } else {
        const auto* source = args.in<float>(0);
        kernels->gather_f32(source + offset, plane, rows, segments.data(), segment_count,
                            window.strides[1], source + all, panel);
      }
      panel += rows * kPanel;
      k += rows;
    }
  }

  /// Weights of tile t from depth k on, as float32: [k...][rows of t].
  const float* TileWeights(const KernelArguments& args, std::int64_t in_group, std::int64_t t,
                           std::int64_t k) const {
    const std::int64_t offset = (in_group * tiles.rows() + tiles.begin(t)) * Depth();
    return args.in<float>(1) + offset + k * tiles.size(t);
  }

  void WidenWeights(const KernelArguments& args, std::int64_t in_group, std::int64_t first_tile,
                    std::int64_t last_tile, std::int64_t k, std::int64_t depth,
                    float* target) const {
    for (std::int64_t t = first_tile; t < last_tile; ++t) {
      const std::int64_t offset = (in_group * tiles.rows() + tiles.begin(t)) * Depth();
      const std::int64_t rows = tiles.size(t);
      kernels->widen(args.in<std::uint16_t>(1) + offset + k * rows, rows * depth, target);
      target += rows * depth;
    }
  }

  /// One block of output channels by one block of pixels.
  void RunTask(const KernelArguments& args, const Epilogue& finish, std::int64_t index,
               float* scratch) const {
    const std::int64_t channel_block = index % blocking.channel_tiles.blocks();
    index /= blocking.channel_tiles.blocks();
    const std::int64_t pixel_block = index % blocking.pixel_panels.blocks();
    const std::int64_t image_group = index / blocking.pixel_panels.blocks();
    const std::int64_t in_group = image_group % group;
    const std::int64_t first_tile = blocking.channel_tiles.begin(channel_block);
    const std::int64_t last_tile = blocking.channel_tiles.end(channel_block);
    const std::int64_t first_panel = blocking.pixel_panels.begin(pixel_block);
    const std::int64_t last_panel = blocking.pixel_panels.end(pixel_block);
    const std::int64_t first_row = tiles.begin(first_tile);
    const std::int64_t rows_of_block = tiles.begin(last_tile) - first_row;
    // The epilogue's rows are output channels of the group; images and groups follow each other.
    const std::int64_t row_base = image_group * tiles.rows();
    Epilogue rows_finish = finish;
    if (finish.row_bias != nullptr) {
      rows_finish.row_bias = finish.row_bias + (in_group - image_group) * tiles.rows();
    }

    float* const panels = scratch;
    float* const results = panels + panel_floats;
    float* const widened = results + result_floats;
    const std::int64_t parts = blocking.depth.blocks();
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t k = blocking.depth.begin(part);
      const std::int64_t depth = blocking.depth.end(part) - k;
      if (half_weights) {
        WidenWeights(args, in_group, first_tile, last_tile, k, depth, widened);
      }
      for (std::int64_t p = first_panel; p < last_panel; p += kernels->panels) {
        const auto count =
            static_cast<int>(std::min<std::int64_t>(kernels->panels, last_panel - p));
        for (int i = 0; i < count; ++i) {
          PackPanel(args, image_group * channels, PixelsOf(p + i), k, k + depth,
                    panels + i * depth * kPanel);
        }
        const bool is_narrow = count == 1 && out_pixels - p * kPanel <= kPanel / 2;
        const auto product = is_narrow ? kernels->interleaved_narrow : kernels->interleaved;
        for (std::int64_t t = first_tile; t < last_tile; ++t) {
          const std::int64_t row = tiles.begin(t) - first_row;
          const int rows = static_cast<int>(tiles.size(t));
          const float* weights =
              half_weights ? widened + row * depth : TileWeights(args, in_group, t, k);
          const std::int64_t to_next = half_weights ? rows * depth : rows * Depth();
          const Tiles to = parts > 1
                               ? Tiles{results + ((p - first_panel) * rows_of_block + row) * kPanel,
                                       rows_of_block * kPanel}
                               : Tiles{results, kTileRows * kPanel};
          product(rows, weights, {panels, depth * kPanel, count}, depth,
                  {weights + to_next, 2 * kPanel, Fetching::kNear}, to, part > 0);
          for (int i = 0; part + 1 == parts && i < count; ++i) {
            const std::int64_t column = (p + i) * kPanel;
            kernels->finish(rows_finish, to.first + i * to.stride, kPanel, rows,
                            std::min(kPanel, out_pixels - column), row_base + first_row + row,
                            column);
          }
        }
      }
    }
  }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.row_bias = args.inputs.size() > 2 ? args.in<float>(2) : nullptr;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    args.pool->Run(batch * group * blocking.channel_tiles.blocks() * blocking.pixel_panels.blocks(),
                   [&](std::int64_t index, int worker) {
                     RunTask(args, finish, index, WorkerScratch(args, worker, scratch_bytes));
                   });
  }

  void FindColumnRanges() {
    const std::int64_t stride = window.strides[1];
    const auto first_at_or_after = [&](std::int64_t position) {
      // First output column whose input column is at or after `position`.
      if (position <= 0) return std::int64_t{0};
      return std::min(out_width, position / stride + (position % stride != 0 ? 1 : 0));
    };
    for (std::int64_t tap = 0; tap < window.kernel[1]; ++tap) {
      const std::int64_t shift = window.pads_begin[1] - tap * window.dilations[1];
      column_ranges.push_back({first_at_or_after(shift), first_at_or_after(shift + width)});
    }
  }

  void PlanScratch() {
    // Gathering writes up to 16 floats behind a panel.
    panel_floats = (kTilePanels * blocking.depth.largest() + 1) * kPanel;
    const bool continues = blocking.depth.blocks() > 1;
    const std::int64_t rows = blocking.channel_tiles.largest() * kTileRows;
    const auto results =
        CheckedElementCount({continues ? blocking.pixel_panels.largest() : kTilePanels,
                             continues ? rows : kTileRows, kPanel});
    const auto weights = CheckedElementCount({half_weights ? rows : 0, blocking.depth.largest()});
    Require(results.has_value() && weights.has_value(), "the blocks are too large");
    result_floats = *results;
    FloatScratchBytes(result_floats);  // or throws: from here on nothing overflows
    scratch_bytes = FloatScratchBytes(panel_floats + result_floats + *weights);
  }
};

}  // namespace

BoundKernel BindConv2d(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 2, 4);
  const TensorType& x = call.inputs[0];
  const TensorType& w = call.inputs[1];
  const bool half = RequireHalfOrFloat(x.element, "input 0");
  const bool half_weights = RequireHalfOrFloat(w.element, "the weights, input 1,");
  Image image = RequireImage(x, "input 0");
  const std::int64_t group = call.attributes.get_int("group", 1);
  Require(group >= 1 && image.channels >= 1 && image.channels % group == 0,
          "input channels (" + std::to_string(image.channels) + ") must be a multiple of group (" +
              std::to_string(group) + "), both at least 1");
  const std::int64_t out_channels = RequirePositive(call.attributes, "out_channels");
  const Ints kernel = RequireKernelShape(call.attributes);
  const std::int64_t channels = image.channels / group;
  const auto depth = CheckedElementCount({channels, kernel[0], kernel[1]});
  Require(depth.has_value(), "the filter is too large");
  RequireType(w, PackedConv2dType(out_channels, *depth, group, w.element), "the weights, input 1,");
  Window window = ResolveWindow(call.attributes, {image.height, image.width}, kernel);
  Shape out = WindowOutputExtents(window, {image.height, image.width}, false);
  RequireType(call.outputs[0], {x.element, {image.batch, out_channels, out[0], out[1]}},
              "output 0");
  RequireBiasAndResidual(call, out_channels);

  if (ReadsEveryPixelOnce(window)) {
    image = {image.batch, image.channels, 1, image.height * image.width};
    out = {1, image.width};
    const std::int64_t outs = out_channels / group;
    if (outs <= kThinRows && !half && !half_weights && image.batch * image.width > 0) {
      return BindThinConv2d(call,
                            {.batch = image.batch,
                             .group = group,
                             .channels = channels,
                             .outs = outs,
                             .pixels = image.width},
                            loops);
    }
  }
  const RowTiles tiles(out_channels / group);
  const std::int64_t out_pixels = out[0] * out[1];
  const std::int64_t panels = out_pixels / kPanel + (out_pixels % kPanel != 0 ? 1 : 0);
  const auto conv = std::make_shared<Conv2d>(
      Conv2d{.kernels = &loops.gemm,
             .batch = image.batch,
             .group = group,
             .channels = channels,
             .height = image.height,
             .width = image.width,
             .out_width = out[1],
             .out_pixels = out_pixels,
             .window = std::move(window),
             .half = half,
             .half_weights = half_weights,
             .epilogue = EpilogueWithActivation(call.attributes),
             .tiles = tiles,
             .blocking = Conv2dBlocking(image.batch * group, tiles.count(), panels, *depth),
             .column_ranges = {}});
  conv->epilogue.row_stride = out_pixels;
  conv->epilogue.half = half;
  conv->FindColumnRanges();
  const Ints block_sizes = conv->blocking.Cut(call.attributes);
  conv->PlanScratch();
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
