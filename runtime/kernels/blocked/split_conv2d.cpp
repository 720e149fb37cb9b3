#include "runtime/kernels/blocked/split_conv2d.hpp"

#include <algorithm>
#include <array>

#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/blocked/tile_taps.hpp"

namespace poprt::kernels {
namespace {

// Larger filters are rare, and their tables would not stay near.
constexpr std::int64_t kMostTaps = 64;
/// Register tiles of the pixels that are finished at once, at most: those of six pixels.
constexpr std::int64_t kMostTiles = (kSplitPair + kTilePixels - 1) / kTilePixels;

/// Where the pixels of a tile of rows find their inputs for each tap.
class RowTaps {
 public:
  RowTaps(const TapGeometry& geometry, std::int64_t taps) : geometry_(geometry), taps_(taps) {}

  void Find(std::int64_t first_pixel, std::int64_t pixels) {
    if (first_pixel == first_pixel_) return;
    first_pixel_ = first_pixel;
    std::array<ConvTile, 2> tiles;
    std::array<TileTap, 2 * kMostTaps> found;
    const std::int64_t count = FindTiles(geometry_, kMostTilePixels, first_pixel,
                                         first_pixel + pixels, tiles.data(), found.data());
    const TileTap* next = found.data();
    std::int64_t row = 0;
    for (std::int64_t t = 0; t < count; ++t) {
      for (std::int64_t tap = 0; tap < taps_; ++tap, ++next) {
        std::copy_n(next->inputs, tiles[t].pixels, offsets_.data() + tap * kSplitRows + row);
      }
      row += tiles[t].pixels;
    }
  }

  const std::int32_t* Of(std::int64_t tap) const { return offsets_.data() + tap * kSplitRows; }

 private:
  TapGeometry geometry_;
  std::int64_t taps_;
  std::int64_t first_pixel_ = -1;
  std::array<std::int32_t, kMostTaps * kSplitRows> offsets_;
};

static_assert(2 * kMostTilePixels == kSplitRows && kPadding == kSplitZeros);

std::int64_t TapsOf(const SplitConvShape& shape) {
  return shape.window.kernel[0] * shape.window.kernel[1];
}

SplitParts PartsOf(const SplitConvShape& shape) {
  return {.of_panels = shape.half_weights ? kHalfParts : kFloatParts};
}

}  // namespace

std::optional<SplitConv2d> SplitConv2d::Plan(const InnerLoops& loops, const SplitConvShape& shape,
                                             const BlockedEpilogue& epilogue) {
  if (loops.matrix_unit == nullptr || TapsOf(shape) > kMostTaps ||
      !SplitBlocking::Pays(shape.out.Pixels(), shape.out_blocks, shape.depth, PartsOf(shape))) {
    return std::nullopt;
  }
  return SplitConv2d(loops, shape, epilogue);
}

SplitConv2d::SplitConv2d(const InnerLoops& loops, const SplitConvShape& shape,
                         const BlockedEpilogue& epilogue)
    : unit_(loops.matrix_unit),
      tiles_(&loops.blocked_tiles),
      shape_(shape),
      epilogue_(epilogue),
      blocking_(shape.out.Pixels(), shape.out_blocks, shape.depth, PartsOf(shape)),
      scratch_bytes_(blocking_.ScratchBytes()) {}

void SplitConv2d::Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
                      const Compute& compute) const {
  const std::int64_t image_groups = shape_.in.batch * shape_.group;
  const SplitTasks tasks = blocking_.Tasks(args.pool->size(), image_groups);
  args.pool->Run(image_groups * tasks.count(), [&](std::int64_t index, int worker) {
    RunTask(args, index / tasks.count(), tasks.At(index % tasks.count()),
            args.scratch + static_cast<std::size_t>(worker) * stride + offset,
            [&](const ConvPart& part) { compute(part, worker); });
  });
}

void SplitConv2d::RunTask(const KernelArguments& args, std::int64_t image_group,
                          const SplitTask& task, std::byte* scratch,
                          const std::function<void(const ConvPart&)>& compute) const {
  const std::int64_t taps = TapsOf(shape_);
  const std::int64_t groups = shape_.in_blocks * taps;
  const float* const x =
      args.in<float>(0) + image_group * shape_.in_blocks * shape_.in.BlockFloats();
  const std::int64_t first_block = image_group % shape_.group * shape_.out_blocks;
  RowTaps row_taps({.in_height = shape_.in.height,
                    .in_width = shape_.in.width,
                    .out_width = shape_.out.width,
                    .window = shape_.window,
                    .is_padding_zero = false},
                   taps);
  const auto rows_at = [&](std::int64_t row, std::int64_t k, SplitRows& rows) {
    row_taps.Find(row, rows.rows);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t group = k / kSplitGroup + i;
      const std::int64_t block = group / taps;
      const bool is_last = block + 1 >= shape_.in_blocks;
      rows.first[i] = x + block * shape_.in.BlockFloats();
      rows.offsets[i] = row_taps.Of(group % taps);
      rows.lanes[i] = group >= groups ? 0
                      : is_last       ? static_cast<std::int32_t>(shape_.last_channels)
                                      : static_cast<std::int32_t>(kBlock);
    }
  };
  const std::int64_t size = shape_.half_weights ? 2 : 4;
  const auto panel_at = [&](std::int64_t out, std::int64_t k) -> const void* {
    return args.inputs[1] + ((first_block + out) * shape_.depth + k) * kBlock * size;
  };
  const auto start_at = [&](std::int64_t out) { return BiasOfBlock(args, first_block + out); };
  const auto part_of = [&](const SplitTask& some) {
    return ConvPart{image_group, some.first_row, some.first_row + some.rows, some.first_panel,
                    some.last_panel};
  };
  MultiplySplit(
      *unit_, blocking_, task, rows_at, panel_at, start_at,
      [&](const SplitTask& some, const float* sums) { Finish(args, part_of(some), sums); },
      [&](const SplitTask& some) { compute(part_of(some)); }, scratch);
}

void SplitConv2d::Finish(const KernelArguments& args, const ConvPart& part,
                         const float* sums) const {
  const RegisterTiles cut(part.last_pixel - part.first_pixel, tiles_->pixels);
  std::array<ConvTile, kMostTiles> tiles;
  for (std::int64_t t = 0; t < cut.count(); ++t) {
    tiles[static_cast<std::size_t>(t)] = {.pixels = static_cast<std::int32_t>(cut.size(t)),
                                          .taps = 0};
  }
  const float* const residual = OptionalInput(args, 3);
  for (std::int64_t out = part.first_out; out < part.last_out; out += tiles_->panels) {
    const std::int64_t count = std::min<std::int64_t>(tiles_->panels, part.last_out - out);
    const std::int64_t at =
        (part.image_group * shape_.out_blocks + out) * shape_.out.BlockFloats() +
        part.first_pixel * kBlock;
    tiles_->conv_f32(
        {.last_channels = kBlock,
         .start = sums + (out - part.first_out) * kSplitPairSums,
         .start_step = kBlock,
         .start_block = kSplitPairSums,
         .epilogue = epilogue_.WithResidual(residual == nullptr ? nullptr : residual + at),
         .y = args.out<float>(0) + at,
         .outputs = {.count = static_cast<int>(count),
                     .weights = 0,
                     .y = shape_.out.BlockFloats()}},
        tiles.data(), cut.count(), nullptr);
  }
}

}  // namespace poprt::kernels
