#include "runtime/kernels/blocked/split_conv2d.hpp"

#include <algorithm>
#include <array>

#include "runtime/kernels/blocked/tile_taps.hpp"
#include "runtime/kernels/matrix_unit/multiply_split.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kMostTaps = SplitConv2d::kMostTaps;

/// Where pixels that are split at once find their inputs for each tap.
class RowTaps {
 public:
  RowTaps(const TapGeometry& geometry, std::int64_t taps)
      : geometry_(geometry),
        taps_(taps),
        reads_every_pixel_(ReadsEveryPixelOnce(geometry.window)) {}

  void Find(std::int64_t first_pixel, std::int64_t pixels) {
    if (first_pixel == first_pixel_) return;
    first_pixel_ = first_pixel;
    if (reads_every_pixel_) {
      for (std::int64_t r = 0; r < pixels; ++r) {
        offsets_[static_cast<std::size_t>(r)] =
            static_cast<std::int32_t>((first_pixel + r) * kBlock);
      }
      return;
    }
    std::array<TileTap, kMostTaps> found;
    FindTaps(geometry_, first_pixel, pixels, found.data());
    for (std::int64_t tap = 0; tap < taps_; ++tap) {
      std::copy_n(found[static_cast<std::size_t>(tap)].inputs, pixels,
                  offsets_.data() + tap * kSplitAtOnce);
    }
  }

  const std::int32_t* Of(std::int64_t tap) const { return offsets_.data() + tap * kSplitAtOnce; }

 private:
  TapGeometry geometry_;
  std::int64_t taps_;
  bool reads_every_pixel_;  ///< in order
  std::int64_t first_pixel_ = -1;
  std::array<std::int32_t, kMostTaps * kSplitAtOnce> offsets_;
};

static_assert(kMostTilePixels == kSplitAtOnce && kPadding == kSplitZeros);

std::int64_t TapsOf(const SplitConvShape& shape) {
  return shape.window.kernel[0] * shape.window.kernel[1];
}

}  // namespace

std::optional<SplitConv2d> SplitConv2d::Plan(const InnerLoops& loops, const SplitConvShape& shape,
                                             const BlockedEpilogue& epilogue) {
  if (loops.matrix_unit == nullptr || TapsOf(shape) > kMostTaps ||
      !SplitBlocking::Pays(shape.out.Pixels(), shape.out_blocks, shape.panels.depth,
                           shape.Numbers())) {
    return std::nullopt;
  }
  return SplitConv2d(loops, shape, epilogue);
}

SplitConv2d::SplitConv2d(const InnerLoops& loops, const SplitConvShape& shape,
                         const BlockedEpilogue& epilogue)
    : unit_(loops.matrix_unit),
      kernels_(&loops.conv),
      shape_(shape),
      epilogue_(epilogue),
      blocking_(shape.out.Pixels(), shape.out_blocks, shape.panels.depth, shape.Numbers()),
      scratch_bytes_(blocking_.ScratchBytes()) {}

void SplitConv2d::Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
                      const Compute& compute) const {
  const std::int64_t image_groups = shape_.in.batch * shape_.group;
  const SplitTasks tasks = blocking_.Tasks(args.pool->size(), image_groups);
  const ConvTarget results{OptionalInput(args, 3), args.out<float>(0), shape_.out.BlockFloats()};
  args.pool->Run(image_groups * tasks.count(), [&](std::int64_t index, int worker) {
    const std::int64_t image_group = index / tasks.count();
    const SplitTask task = tasks.At(index % tasks.count());
    const std::int64_t at =
        (image_group * shape_.out_blocks + task.first_panel) * shape_.out.BlockFloats() +
        task.first_row * kBlock;
    RunTask(args, image_group, task, results.At(at),
            args.scratch + static_cast<std::size_t>(worker) * stride + offset,
            [&](const ConvPart& part) { compute(part, worker); });
  });
}

void SplitConv2d::RunPart(const KernelArguments& args, const ConvPart& part,
                          const ConvTarget& target, std::byte* scratch,
                          const ComputePart& compute) const {
  const SplitTasks tasks =
      blocking_.TasksOf(part.last_pixel - part.first_pixel, part.last_out - part.first_out);
  for (std::int64_t i = 0; i < tasks.count(); ++i) {
    SplitTask task = tasks.At(i);
    const std::int64_t at = task.first_panel * target.block_floats + task.first_row * kBlock;
    task.first_row += part.first_pixel;
    task.first_panel += part.first_out;
    task.last_panel += part.first_out;
    RunTask(args, part.image_group, task, target.At(at), scratch, compute);
  }
}

void SplitConv2d::RunTask(const KernelArguments& args, std::int64_t image_group,
                          const SplitTask& task, const ConvTarget& target, std::byte* scratch,
                          const ComputePart& compute) const {
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
  TransformedPanel transformed[kSplitPanels];
  const auto panel_at = [&](std::int64_t out, std::int64_t k, std::int64_t) -> const void* {
    const std::byte* const weights = args.inputs[1];
    const std::int64_t block = first_block + out;
    if (shape_.transformed.has_value()) {
      TransformedPanel& panel = transformed[out % kSplitPanels];
      return &(panel = shape_.transformed->PanelAt(weights, block, k / kBlock));
    }
    return shape_.panels.At(weights, block, k);
  };
  const auto start_at = [&](std::int64_t out) { return BiasOfBlock(args, first_block + out); };
  const auto finish = [&](const SplitTask& some, const float* sums) {
    for (std::int64_t out = some.first_panel; out < some.last_panel; ++out) {
      const ConvTarget to = target.At((out - task.first_panel) * target.block_floats +
                                      (some.first_row - task.first_row) * kBlock);
      kernels_->finish(epilogue_.WithResidual(to.residual), sums, some.rows, to.y);
      sums += kSplitPairSums;
    }
  };
  const auto compute_part = [&](std::int64_t pixel, std::int64_t out) {
    compute({image_group, pixel, pixel + 1, out, out + 1});
  };
  MultiplySplit(*unit_, blocking_, task, rows_at, panel_at, start_at, finish, compute_part,
                scratch);
}

}  // namespace poprt::kernels
