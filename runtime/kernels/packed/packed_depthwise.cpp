#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

/// Columns that the inner loop computes at once at most.
constexpr std::int64_t kStrip = 32;
/// Floats of a padded plane that stay in the second-level cache.
constexpr std::int64_t kPlaneFloats = 1 << 15;
/// Multiplications of a task that is worth handing out.
constexpr std::int64_t kWorkOfTask = 1 << 16;
/// Limit of one extent of a padded row, so that products of two extents cannot overflow.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 28;

/// The columns of the input that go to one column phase of a padded row.
struct ColumnPhase {
  std::int64_t column;  ///< first one
  std::int64_t count;   ///< every stride-th from there
  std::int64_t place;   ///< in the padded row
};

/// A depthwise convolution plane by plane. The rows that a block of output rows needs are copied
/// with their padding into scratch memory; in a row, the columns are sorted by their number modulo
/// the stride, so that every tap reads consecutive floats.
struct Depthwise {
  const TileKernels* kernels;
  Image in;
  std::int64_t out_channels;
  std::int64_t out_height;
  std::int64_t out_width;
  Window window;
  bool half;
  bool half_weights;
  Epilogue epilogue;
  std::int64_t phase_pitch;  ///< floats from one column phase to the next
  std::int64_t row_pitch;    ///< floats from one input row to the next
  std::vector<ColumnPhase> phases;
  std::vector<std::int64_t> tap_offsets;
  EvenSplit row_blocks;
  EvenSplit channel_blocks;
  std::int64_t plane_floats = 0;
  std::int64_t result_floats = 0;
  std::size_t scratch_bytes = 0;

  std::int64_t InputRows(std::int64_t out_rows) const {
    return (out_rows - 1) * window.strides[0] + window.Reach(0);
  }

  /// Copies one input row, or zeros for a row of padding.
  void FillRow(const KernelArguments& args, std::int64_t plane, std::int64_t row,
               float* target) const {
    std::fill_n(target, row_pitch, 0.0F);
    if (row < 0 || row >= in.height) return;
    const std::int64_t offset = (plane * in.height + row) * in.width;
    for (const ColumnPhase& phase : phases) {
      if (half) {
        Copy(kernels->gather_f16, kernels->widen, args.in<std::uint16_t>(0), offset, phase, target);
      } else {
        const auto copy = [](const float* source, std::int64_t count, float* to) {
          std::copy_n(source, count, to);
        };
        Copy(kernels->gather_f32, copy, args.in<float>(0), offset, phase, target);
      }
    }
  }

  template <typename Gather, typename CopyAll, typename T>
  void Copy(Gather gather, CopyAll copy_all, const T* source, std::int64_t row_offset,
            const ColumnPhase& phase, float* target) const {
    const std::int64_t stride = window.strides[1];
    const T* const from = source + row_offset + phase.column;
    float* const to = target + phase.place;
    if (stride == 1) return copy_all(from, phase.count, to);
    const T* const end = source + in.batch * in.channels * in.height * in.width;
    const std::int64_t whole = phase.count / kPanel;
    const std::int64_t rest = phase.count % kPanel;
    const PanelSegment full{.offset = 0, .at = 0, .count = kPanel};
    gather(from, kPanel * stride, whole, &full, 1, stride, end, to);
    if (rest == 0) return;
    const PanelSegment part{.offset = whole * kPanel * stride, .at = 0, .count = rest};
    gather(from, 0, 1, &part, 1, stride, end, to + whole * kPanel);
  }

  void RunRows(const KernelArguments& args, const Epilogue& finish, std::int64_t image,
               std::int64_t channel, std::int64_t row, std::int64_t rows, float* scratch) const {
    const std::int64_t taps = static_cast<std::int64_t>(tap_offsets.size());
    const float* weights = scratch + plane_floats + result_floats;
    if (half_weights) {
      kernels->widen(args.in<std::uint16_t>(1) + channel * taps, taps,
                     scratch + plane_floats + result_floats);
    } else {
      weights = args.in<float>(1) + channel * taps;
    }
    const bool has_bias = args.inputs.size() > 2 && args.inputs[2] != nullptr;
    kernels->depthwise({.plane = scratch,
                        .row_step = window.strides[0] * row_pitch,
                        .tap_offset = tap_offsets.data(),
                        .weights = weights,
                        .taps = taps,
                        .bias = has_bias ? args.in<float>(2)[channel] : 0.0F,
                        .out = scratch + plane_floats,
                        .out_stride = out_width,
                        .rows = rows,
                        .width = out_width});
    kernels->finish(finish, scratch + plane_floats, 0, 1, rows * out_width,
                    image * out_channels + channel, row * out_width);
  }

  /// A block of rows of a block of input channels, with all output channels that come from them.
  void RunTask(const KernelArguments& args, const Epilogue& finish, std::int64_t index,
               float* scratch) const {
    const std::int64_t row_block = index % row_blocks.blocks();
    index /= row_blocks.blocks();
    const std::int64_t channel_block = index % channel_blocks.blocks();
    const std::int64_t image = index / channel_blocks.blocks();
    const std::int64_t multiplier = out_channels / in.channels;
    const std::int64_t row = row_blocks.begin(row_block);
    const std::int64_t rows = row_blocks.end(row_block) - row;
    const std::int64_t first_input = row * window.strides[0] - window.pads_begin[0];
    for (std::int64_t channel = channel_blocks.begin(channel_block);
         channel < channel_blocks.end(channel_block); ++channel) {
      for (std::int64_t i = 0; i < InputRows(rows); ++i) {
        FillRow(args, image * in.channels + channel, first_input + i, scratch + i * row_pitch);
      }
      for (std::int64_t m = 0; m < multiplier; ++m) {
        RunRows(args, finish, image, channel * multiplier + m, row, rows, scratch);
      }
    }
  }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    args.pool->Run(in.batch * channel_blocks.blocks() * row_blocks.blocks(),
                   [&](std::int64_t index, int worker) {
                     RunTask(args, finish, index, WorkerScratch(args, worker, scratch_bytes));
                   });
  }

  void PlanScratch() {
    const auto plane = CheckedElementCount({InputRows(row_blocks.largest()), row_pitch});
    const auto result = CheckedElementCount({row_blocks.largest(), out_width});
    Require(plane.has_value() && result.has_value() && *plane <= kLargestExtent &&
                *result <= kLargestExtent,
            "the filter spans too large an area");
    // The copy of a row may write 16 floats too much, the inner loop a strip.
    plane_floats = *plane + kPanel;
    result_floats = *result + kStrip;
    scratch_bytes =
        ScratchBytes(plane_floats + result_floats + static_cast<std::int64_t>(tap_offsets.size()));
  }
};

std::vector<ColumnPhase> ColumnPhases(const Window& window, std::int64_t width,
                                      std::int64_t phase_pitch) {
  const std::int64_t stride = window.strides[1];
  const std::int64_t pad = window.pads_begin[1];
  std::vector<ColumnPhase> phases;
  for (std::int64_t phase = 0; phase < stride; ++phase) {
    // Padded column `phase + i * stride` goes to place i of its phase.
    const std::int64_t place = (std::max<std::int64_t>(0, pad - phase) + stride - 1) / stride;
    const std::int64_t column = phase + place * stride - pad;
    if (column >= width || place >= phase_pitch) continue;
    const std::int64_t count = std::min((width - column - 1) / stride + 1, phase_pitch - place);
    phases.push_back({.column = column, .count = count, .place = phase * phase_pitch + place});
  }
  return phases;
}

std::vector<std::int64_t> TapOffsets(const Window& window, std::int64_t phase_pitch,
                                     std::int64_t row_pitch) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
    for (std::int64_t k = 0; k < window.kernel[1]; ++k) {
      const std::int64_t column = k * window.dilations[1];
      offsets.push_back(i * window.dilations[0] * row_pitch +
                        column % window.strides[1] * phase_pitch + column / window.strides[1]);
    }
  }
  return offsets;
}

/// Output rows whose padded input rows fit the cache.
std::int64_t RowsOfBlock(const Window& window, std::int64_t row_pitch) {
  const std::int64_t more = kPlaneFloats / row_pitch - window.Reach(0);
  return 1 + std::max<std::int64_t>(0, more) / window.strides[0];
}

}  // namespace

BoundKernel BindDepthwiseConv2d(const KernelCall& call, const TileKernels& kernels) {
  RequireArity(call, 2, 4);
  const TensorType& x = call.inputs[0];
  const TensorType& w = call.inputs[1];
  const bool half = RequireHalfOrFloat(x.element, "input 0");
  const bool half_weights = RequireHalfOrFloat(w.element, "the weights, input 1,");
  const Image image = RequireImage(x, "input 0");
  const std::int64_t out_channels = RequirePositive(call.attributes, "out_channels");
  Require(image.channels >= 1 && out_channels % image.channels == 0,
          "output channels (" + std::to_string(out_channels) + ") must be a multiple of the " +
              std::to_string(image.channels) + " input channels");
  const Ints kernel = RequireKernelShape(call.attributes);
  const auto taps = CheckedElementCount({kernel[0], kernel[1]});
  Require(taps.has_value(), "the filter is too large");
  RequireType(w, PackedDepthwiseType(out_channels, *taps, w.element), "the weights, input 1,");
  Window window = ResolveWindow(call.attributes, {image.height, image.width}, kernel);
  const Shape out = WindowOutputExtents(window, {image.height, image.width}, false);
  RequireType(call.outputs[0], {x.element, {image.batch, out_channels, out[0], out[1]}},
              "output 0");
  RequireBiasAndResidual(call, out_channels);

  Require(std::max({window.Reach(0), window.Reach(1), window.strides[0], window.strides[1], out[0],
                    out[1]}) <= kLargestExtent,
          "the window or the image is larger than 2^28");
  const std::int64_t out_pitch = (out[1] + kStrip - 1) / kStrip * kStrip;
  const std::int64_t phase_pitch = out_pitch + (window.Reach(1) - 1) / window.strides[1] + 1;
  const std::int64_t row_pitch = phase_pitch * window.strides[1];
  Require(row_pitch <= kLargestExtent, "a padded row is larger than 2^28");
  const std::int64_t channel_work = std::max<std::int64_t>(1, out[0] * out[1]) * *taps;
  const auto depthwise = std::make_shared<Depthwise>(Depthwise{
      .kernels = &kernels,
      .in = image,
      .out_channels = out_channels,
      .out_height = out[0],
      .out_width = out[1],
      .window = window,
      .half = half,
      .half_weights = half_weights,
      .epilogue = EpilogueWithActivation(call.attributes),
      .phase_pitch = phase_pitch,
      .row_pitch = row_pitch,
      .phases = ColumnPhases(window, image.width, phase_pitch),
      .tap_offsets = TapOffsets(window, phase_pitch, row_pitch),
      .row_blocks = EvenSplit(out[0], RowsOfBlock(window, row_pitch)),
      .channel_blocks =
          EvenSplit(image.channels, std::max<std::int64_t>(1, kWorkOfTask / channel_work))});
  depthwise->epilogue.row_stride = out[0] * out[1];
  depthwise->epilogue.half = half;
  depthwise->PlanScratch();
  return {.run = [depthwise](const KernelArguments& args) { depthwise->Run(args); },
          .scratch_bytes = depthwise->scratch_bytes};
}

}  // namespace poprt::kernels
