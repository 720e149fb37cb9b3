#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

/// Outputs that the inner loop computes at once at most.
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

template <std::size_t kCount>
void CopyEnds(const float* from, std::int64_t count, float* to) {
  constexpr std::size_t kBytes = kCount * sizeof(float);
  std::memcpy(to, from, kBytes);
  std::memcpy(to + count - kCount, from + count - kCount, kBytes);
}

/// Copies a row. Rows are short: a call of memcpy would take longer than the copy.
void CopyRow(const float* from, std::int64_t count, float* to) {
  if (count >= 8) {
    for (std::int64_t i = 8; i + 8 <= count; i += 8) std::memcpy(to + i, from + i, 32);
    return CopyEnds<8>(from, count, to);
  }
  if (count >= 4) return CopyEnds<4>(from, count, to);
  if (count >= 2) return CopyEnds<2>(from, count, to);
  if (count == 1) *to = *from;
}

/// Copies every stride-th element.
void CopyColumns(const float* from, std::int64_t count, std::int64_t stride, float* to) {
  if (stride == 1) return CopyRow(from, count, to);
  if (stride == 2) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

/// How padded input rows lie in scratch memory: rows and columns sorted by their number modulo the
/// stride, a plane for each pair of phases, so that every tap of consecutive outputs reads
/// consecutive floats, across rows as well.
struct PhasePlanes {
  Ints strides;
  std::int64_t pitch = 0;  ///< floats from one row of a plane to the next
  std::int64_t rows = 0;   ///< of a plane

  /// The inner loop reads a strip too much.
  std::int64_t plane_floats() const { return rows * pitch + kStrip; }
  std::int64_t floats() const { return strides[0] * strides[1] * plane_floats(); }

  /// Where a padded row begins, in its plane of a column phase.
  std::int64_t RowAt(std::int64_t row, std::int64_t column_phase) const {
    return (row % strides[0] * strides[1] + column_phase) * plane_floats() +
           row / strides[0] * pitch;
  }
  std::int64_t At(std::int64_t row, std::int64_t column) const {
    return RowAt(row, column % strides[1]) + column / strides[1];
  }
};

/// A depthwise convolution plane by plane. The rows that a block of output rows needs are copied
/// with their padding into scratch memory; results are computed at the pitch of its rows.
struct Depthwise {
  const GemmMicroKernels* kernels;
  Image in;
  std::int64_t out_channels;
  std::int64_t out_width;
  Window window;
  bool half;
  bool half_weights;
  Epilogue epilogue;
  PhasePlanes planes;
  std::vector<ColumnPhase> phases;
  std::vector<std::int64_t> tap_offsets;
  EvenSplit row_blocks;
  EvenSplit channel_blocks;
  std::int64_t result_floats = 0;  ///< of a block at the pitch of the planes
  std::size_t scratch_bytes = 0;

  /// The parts of a worker's memory.
  struct Scratch {
    float* planes;
    float* results;
    float* dense;  ///< results without what is between the rows
    float* row;    ///< of the input, if it is half
    float* weights;
  };
  Scratch Parts(float* memory) const {
    const auto take = [&memory](std::int64_t floats) {
      return std::exchange(memory, memory + floats);
    };
    return {.planes = take(planes.floats()),
            .results = take(result_floats),
            .dense = take(result_floats),
            .row = take(half ? in.width : 0),
            .weights = memory};
  }

  std::int64_t InputRows(std::int64_t out_rows) const {
    return (out_rows - 1) * window.strides[0] + window.Reach(0);
  }

  /// Copies the rows of the input that a block of output rows reads, from padded row `first` on.
  /// What is padding stays as it is.
  void FillPlanes(const KernelArguments& args, std::int64_t plane, std::int64_t first,
                  std::int64_t rows, const Scratch& scratch) const {
    const std::int64_t stride = window.strides[0];
    for (std::int64_t row_phase = 0; row_phase < stride; ++row_phase) {
      float* to = scratch.planes + planes.RowAt(row_phase, 0);
      for (std::int64_t i = row_phase; i < rows; i += stride, to += planes.pitch) {
        const std::int64_t row = first + i - window.pads_begin[0];
        if (row >= 0 && row < in.height) FillRow(args, plane * in.height + row, to, scratch);
      }
    }
  }

  /// Copies a row into the planes of its columns, the first of which has it at `to`.
  void FillRow(const KernelArguments& args, std::int64_t row, float* to,
               const Scratch& scratch) const {
    const float* source = half ? scratch.row : args.in<float>(0) + row * in.width;
    if (half) kernels->widen(args.in<std::uint16_t>(0) + row * in.width, in.width, scratch.row);
    for (const ColumnPhase& phase : phases) {
      CopyColumns(source + phase.column, phase.count, window.strides[1], to + phase.place);
      to += planes.plane_floats();
    }
  }

  void RunRows(const KernelArguments& args, const Epilogue& finish, std::int64_t image,
               std::int64_t channel, std::int64_t row, std::int64_t rows,
               const Scratch& scratch) const {
    const auto taps = static_cast<std::int64_t>(tap_offsets.size());
    if (half_weights) {
      kernels->widen(args.in<std::uint16_t>(1) + channel * taps, taps, scratch.weights);
    }
    const bool has_bias = args.inputs.size() > 2 && args.inputs[2] != nullptr;
    kernels->depthwise(
        {.planes = scratch.planes,
         .tap_offset = tap_offsets.data(),
         .weights = half_weights ? scratch.weights : args.in<float>(1) + channel * taps,
         .taps = taps,
         .bias = has_bias ? args.in<float>(2)[channel] : 0.0F,
         .out = scratch.results,
         .count = rows > 0 ? (rows - 1) * planes.pitch + out_width : 0});
    for (std::int64_t r = 0; r < rows; ++r) {
      CopyRow(scratch.results + r * planes.pitch, out_width, scratch.dense + r * out_width);
    }
    kernels->finish(finish, scratch.dense, 0, 1, rows * out_width, image * out_channels + channel,
                    row * out_width);
  }

  /// A block of rows of a block of input channels, with all output channels that come from them.
  void RunTask(const KernelArguments& args, const Epilogue& finish, std::int64_t index,
               const Scratch& scratch) const {
    const std::int64_t row_block = index % row_blocks.blocks();
    index /= row_blocks.blocks();
    const std::int64_t channel_block = index % channel_blocks.blocks();
    const std::int64_t image = index / channel_blocks.blocks();
    const std::int64_t multiplier = out_channels / in.channels;
    const std::int64_t row = row_blocks.begin(row_block);
    const std::int64_t rows = row_blocks.end(row_block) - row;
    std::fill_n(scratch.planes, planes.floats(), 0.0F);
    for (std::int64_t channel = channel_blocks.begin(channel_block);
         channel < channel_blocks.end(channel_block); ++channel) {
      FillPlanes(args, image * in.channels + channel, row * window.strides[0], InputRows(rows),
                 scratch);
      for (std::int64_t m = 0; m < multiplier; ++m) {
        RunRows(args, finish, image, channel * multiplier + m, row, rows, scratch);
      }
    }
  }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    args.pool->Run(in.batch * channel_blocks.blocks() * row_blocks.blocks(), [&](std::int64_t index,
                                                                                 int worker) {
      RunTask(args, finish, index, Parts(WorkerScratch(args, worker, scratch_bytes)));
    });
  }

  void PlanScratch() {
    const auto row = CheckedElementCount({InputRows(row_blocks.largest()), planes.pitch});
    Require(row.has_value() && *row <= kLargestExtent && planes.rows <= kLargestExtent &&
                CheckedElementCount(
                    {planes.rows + 1, planes.pitch + kStrip, window.strides[0], window.strides[1]})
                    .has_value(),
            "the filter spans too large an area");
    result_floats = row_blocks.largest() * planes.pitch + kStrip;
    scratch_bytes = FloatScratchBytes(planes.floats() + 2 * result_floats + (half ? in.width : 0) +
                                      static_cast<std::int64_t>(tap_offsets.size()));
  }
};

/// One for every column phase.
std::vector<ColumnPhase> ColumnPhases(const Window& window, std::int64_t width,
                                      std::int64_t pitch) {
  const std::int64_t stride = window.strides[1];
  const std::int64_t pad = window.pads_begin[1];
  std::vector<ColumnPhase> phases;
  for (std::int64_t phase = 0; phase < stride; ++phase) {
    // Padded column `phase + i * stride` goes to place i of its phase.
    const std::int64_t place = (std::max<std::int64_t>(0, pad - phase) + stride - 1) / stride;
    const std::int64_t column = phase + place * stride - pad;
    const bool is_empty = column >= width || place >= pitch;
    const std::int64_t count =
        is_empty ? 0 : std::min((width - column - 1) / stride + 1, pitch - place);
    phases.push_back({.column = column, .count = count, .place = place});
  }
  return phases;
}

std::vector<std::int64_t> TapOffsets(const Window& window, const PhasePlanes& planes) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
    for (std::int64_t k = 0; k < window.kernel[1]; ++k) {
      offsets.push_back(planes.At(i * window.dilations[0], k * window.dilations[1]));
    }
  }
  return offsets;
}

/// Output rows whose padded input rows fit the cache.
std::int64_t RowsOfBlock(const Window& window, std::int64_t pitch) {
  const std::int64_t more = kPlaneFloats / (pitch * window.strides[1]) - window.Reach(0);
  return 1 + std::max<std::int64_t>(0, more) / window.strides[0];
}

}  // namespace

BoundKernel BindDepthwiseConv2d(const KernelCall& call, const InnerLoops& loops) {
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
  const std::int64_t pitch = out[1] + (window.Reach(1) - 1) / window.strides[1];
  Require(window.strides[1] <= kLargestExtent / std::max<std::int64_t>(1, pitch),
          "a padded row is larger than 2^28");
  EvenSplit row_blocks(out[0], RowsOfBlock(window, std::max<std::int64_t>(1, pitch)));
  const std::int64_t channel_work = std::max<std::int64_t>(1, out[0] * out[1]) * *taps;
  EvenSplit channel_blocks(image.channels, std::max<std::int64_t>(1, kWorkOfTask / channel_work));
  const Ints block_sizes = CutIntoBlocks(call.attributes, {&row_blocks, &channel_blocks});
  const std::int64_t input_rows =
      (std::max<std::int64_t>(1, row_blocks.largest()) - 1) * window.strides[0] + window.Reach(0);
  const PhasePlanes planes{.strides = window.strides,
                           .pitch = pitch,
                           .rows = (input_rows + window.strides[0] - 1) / window.strides[0]};
  const auto depthwise =
      std::make_shared<Depthwise>(Depthwise{.kernels = &loops.gemm,
                                            .in = image,
                                            .out_channels = out_channels,
                                            .out_width = out[1],
                                            .window = window,
                                            .half = half,
                                            .half_weights = half_weights,
                                            .epilogue = EpilogueWithActivation(call.attributes),
                                            .planes = planes,
                                            .phases = ColumnPhases(window, image.width, pitch),
                                            .tap_offsets = TapOffsets(window, planes),
                                            .row_blocks = row_blocks,
                                            .channel_blocks = channel_blocks});
  depthwise->epilogue.row_stride = out[0] * out[1];
  depthwise->epilogue.half = half;
  depthwise->PlanScratch();
  return {.run = [depthwise](const KernelArguments& args) { depthwise->Run(args); },
          .scratch_bytes = depthwise->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
