#include "runtime/kernels/blocked/split_conv2d.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/kernels/blocked/tile_taps.hpp"
#include "runtime/kernels/matrix_unit/multiply_split.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kMostTaps = SplitConv2d::kMostTaps;

/// A row of a product: a pixel of one of its images.
struct ImagePixel {
  std::int64_t image;
  std::int64_t pixel;
};

/// The rows of products of `images` images.
class ImageRows {
 public:
  explicit ImageRows(const SplitConvShape& shape)
      : pixels_(shape.images > 1 ? shape.out.Pixels() : kOneImage) {}

  ImagePixel At(std::int64_t row) const {
    // Without a division, which took up to 5 % of a network, where there is one image.
    return row < pixels_ ? ImagePixel{0, row} : ImagePixel{row / pixels_, row % pixels_};
  }

  /// Calls f(pixel, first, count) for the runs of pixels of an image that rows [0, count) behind
  /// `row` are.
  template <typename F>
  void EachRun(std::int64_t row, std::int64_t count, const F& f) const {
    for (std::int64_t first = 0; first < count;) {
      const ImagePixel at = At(row + first);
      const std::int64_t run = std::min(count - first, pixels_ - at.pixel);
      f(at, first, run);
      first += run;
    }
  }

 private:
  static constexpr std::int64_t kOneImage = std::numeric_limits<std::int64_t>::max();
  std::int64_t pixels_;
};

/// Where pixels that are split at once find their inputs for each tap.
class RowTaps {
 public:
  RowTaps(const TapGeometry& geometry, std::int64_t taps, const ImageRows& rows,
          std::int64_t image_floats)
      : geometry_(geometry),
        taps_(taps),
        rows_(rows),
        image_floats_(image_floats),
        reads_every_pixel_(ReadsEveryPixelOnce(geometry.window)) {}

  void Find(std::int64_t first_row, std::int64_t count) {
    if (first_row == first_row_) return;
    first_row_ = first_row;
    rows_.EachRun(first_row, count, [this](ImagePixel at, std::int64_t first, std::int64_t run) {
      reads_every_pixel_ ? PlacePixels(at, first, run) : PlaceTaps(at, first, run);
    });
  }

  const std::int32_t* Of(std::int64_t tap) const { return offsets_.data() + tap * kSplitAtOnce; }

 private:
  void PlacePixels(ImagePixel at, std::int64_t first, std::int64_t count) {
    const std::int64_t begin = at.image * image_floats_ + at.pixel * kBlock;
    for (std::int64_t r = 0; r < count; ++r) {
      offsets_[static_cast<std::size_t>(first + r)] = static_cast<std::int32_t>(begin + r * kBlock);
    }
  }

  void PlaceTaps(ImagePixel at, std::int64_t first, std::int64_t count) {
    const auto begin = static_cast<std::int32_t>(at.image * image_floats_);
    std::array<TileTap, kMostTaps> found;
    FindTaps(geometry_, at.pixel, count, found.data());
    for (std::int64_t tap = 0; tap < taps_; ++tap) {
      const std::int32_t* const inputs = found[static_cast<std::size_t>(tap)].inputs;
      std::int32_t* const to = offsets_.data() + tap * kSplitAtOnce + first;
      for (std::int64_t r = 0; r < count; ++r) {
        to[r] = inputs[r] == kPadding ? kPadding : inputs[r] + begin;
      }
    }
  }

  TapGeometry geometry_;
  std::int64_t taps_;
  ImageRows rows_;
  std::int64_t image_floats_;  ///< of the input
  bool reads_every_pixel_;     ///< in order
  std::int64_t first_row_ = -1;
  std::array<std::int32_t, kMostTaps * kSplitAtOnce> offsets_;
};

static_assert(kMostTilePixels == kSplitAtOnce && kPadding == kSplitZeros);

/// Keeps offsets of pixels in 32 bits.
constexpr std::int64_t kMostFloats = std::int64_t{1} << 30;

std::int64_t TapsOf(const SplitConvShape& shape) {
  return shape.window.kernel[0] * shape.window.kernel[1];
}

}  // namespace

std::int64_t ImagesAtOnce(const BlockedImage& in) {
  const auto floats = CheckedElementCount({in.batch, in.blocks, in.BlockFloats()});
  return floats && *floats <= kMostFloats ? std::max<std::int64_t>(1, in.batch) : 1;
}

std::optional<SplitConv2d> SplitConv2d::Plan(const InnerLoops& loops, const SplitConvShape& shape,
                                             const BlockedEpilogue& epilogue) {
  if (loops.matrix_unit == nullptr || TapsOf(shape) > kMostTaps ||
      !SplitBlocking::Pays(shape.Rows(), shape.out_blocks, shape.panels.depth, shape.Numbers())) {
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
      blocking_(shape.Rows(), shape.out_blocks, shape.panels.depth, shape.Numbers()),
      scratch_bytes_(blocking_.ScratchBytes()) {}

void SplitConv2d::Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
                      const Compute& compute) const {
  const std::int64_t products = shape_.in.batch / shape_.images * shape_.group;
  const SplitTasks tasks = blocking_.Tasks(args.pool->size(), products);
  const ConvTarget results{OptionalInput(args, 3), args.out<float>(0), shape_.out.BlockFloats(),
                           shape_.group * shape_.out_blocks * shape_.out.BlockFloats()};
  args.pool->Run(products * tasks.count(), [&](std::int64_t index, int worker) {
    const std::int64_t image_group = index / tasks.count();
    const SplitTask task = tasks.At(index % tasks.count());
    const std::int64_t at =
        (image_group * shape_.out_blocks + task.first_panel) * shape_.out.BlockFloats();
    RunTask(args, {image_group, 0, results.At(at)}, task,
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
    const ConvTarget of_task = target.At(task.first_panel * target.block_floats);
    task.first_row += part.first_pixel;
    task.first_panel += part.first_out;
    task.last_panel += part.first_out;
    RunTask(args, {part.image_group, part.first_pixel, of_task}, task, scratch, compute);
  }
}

void SplitConv2d::RunTask(const KernelArguments& args, const Product& product,
                          const SplitTask& task, std::byte* scratch,
                          const ComputePart& compute) const {
  const std::int64_t taps = TapsOf(shape_);
  const std::int64_t groups = shape_.in_blocks * taps;
  const float* const x =
      args.in<float>(0) + product.image_group * shape_.in_blocks * shape_.in.BlockFloats();
  const std::int64_t first_block = product.image_group % shape_.group * shape_.out_blocks;
  const ImageRows image_rows(shape_);
  RowTaps row_taps({.in_height = shape_.in.height,
                    .in_width = shape_.in.width,
                    .out_width = shape_.out.width,
                    .window = shape_.window,
                    .is_padding_zero = false},
                   taps, image_rows, shape_.group * shape_.in_blocks * shape_.in.BlockFloats());
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
    const ConvTarget& target = product.target;
    for (std::int64_t out = some.first_panel; out < some.last_panel; ++out) {
      const ConvTarget block = target.At((out - task.first_panel) * target.block_floats);
      image_rows.EachRun(
          some.first_row - product.origin, some.rows,
          [&](ImagePixel at, std::int64_t first, std::int64_t run) {
            const ConvTarget to = block.At(at.image * target.image_floats + at.pixel * kBlock);
            kernels_->finish(epilogue_.WithResidual(to.residual), sums + first * kBlock, run, to.y);
          });
      sums += kSplitPairSums;
    }
  };
  const auto compute_part = [&](std::int64_t row, std::int64_t out) {
    const ImagePixel at = image_rows.At(row);
    compute({product.image_group + at.image * shape_.group, at.pixel, at.pixel + 1, out, out + 1});
  };
  MultiplySplit(*unit_, blocking_, task, rows_at, panel_at, start_at, finish, compute_part,
                scratch);
}

}  // namespace poprt::kernels
