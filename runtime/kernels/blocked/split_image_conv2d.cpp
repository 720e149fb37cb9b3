#include "runtime/kernels/blocked/split_image_conv2d.hpp"

#include <algorithm>
#include <utility>

#include "runtime/kernels/blocked/split_conv2d.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/kernels/matrix_unit/started_unit.hpp"

namespace poprt::kernels {
namespace {

/// Rows of planes are padded to multiples of it, which split_planes writes at once.
constexpr std::int64_t kPixelsAtOnce = kSplitRows;
/// Beyond these filters are rare, and distances would grow.
constexpr std::int64_t kMostSide = 64;
constexpr std::int64_t kMostStride = 64;
/// Tiles that are multiplied at once.
constexpr std::int64_t kTilesAtOnce = kSplitPair / kSplitRows;
/// Tiles of output pixels of a task that share the work of splitting weights, and tasks that
/// workers share out, as far as the rows of the image stay in the second-level cache: these are at
/// most so many numbers of each part.
constexpr std::int64_t kTilesOfTask = 16;
constexpr std::int64_t kTasks = 4;
constexpr std::int64_t kFewestTasks = 2;
constexpr std::int64_t kNumbersOfTask = 1 << 18;

// Cycles of the unit for a product of two tiles, from near or, where those of a panel have more
// steps, from the second-level cache; and for a tile of sums beside them; of splitting a panel's
// step; of splitting 16 pixels of planes, and one of a block; until the unit has something to do.
// Without the unit, of an output pixel for a tap of a channel and a block; and where rows of
// products are split, so many times what that takes without finding them. Measured.
constexpr double kProductCycles = 24;
constexpr double kFarProductCycles = 30;
constexpr std::int64_t kNearSteps = 12;
constexpr double kSumsCycles = 72;
constexpr double kPanelStepCycles = 220;
constexpr double kPixelsCycles = 40;
constexpr double kBlockPixelCycles = 9;
constexpr double kStartCycles = 3000;
constexpr double kOrdinaryCycles = 0.65;
constexpr double kFindingRows = 1.2;

/// At least one.
std::int64_t TilesOfRow(const SplitImageShape& shape) {
  return std::max<std::int64_t>(1, CeilDiv(shape.out.width, kSplitRows));
}

/// Output rows of a task.
std::int64_t RowsOfTask(const SplitImageShape& shape, std::int64_t row_numbers) {
  std::int64_t rows = shape.rows_of_task;
  const std::int64_t enough = std::max(CeilDiv(kTilesOfTask, TilesOfRow(shape)),
                                       CeilDiv(shape.out.height * shape.Images(), kTasks));
  while (rows < std::min(enough, shape.out.height) &&
         shape.rows.Count(rows + 1) * row_numbers <= kNumbersOfTask) {
    ++rows;
  }
  return rows;
}

/// Whether distances within what the first strip reads fit 32 bits and, of blocks, its parts the
/// second-level cache.
bool IsSmall(const SplitImageShape& shape) {
  const Window& window = shape.rows.window;
  if (window.dilations[1] != 1 || std::max(window.kernel[0], window.kernel[1]) > kMostSide ||
      std::max(window.strides[0], window.strides[1]) > kMostStride) {
    return false;
  }
  // At least as many pixels as a row has with what is written and read behind it.
  const std::int64_t pixels = shape.rows.width + kMostSide + (window.strides[1] + 2) * kSplitRows;
  const std::int64_t places = shape.IsInBlocks() ? shape.in_blocks * kBlock : kMostSplitPlanes;
  const auto numbers = CheckedElementCount({shape.rows.Count(shape.rows_of_task), pixels, places});
  return numbers && *numbers <= (shape.IsInBlocks() ? kNumbersOfTask : kMostSplitStride);
}

}  // namespace

SplitImageConv2d::SplitImageConv2d(const InnerLoops& loops, const SplitImageShape& shape,
                                   const BlockedEpilogue& epilogue)
    : unit_(loops.matrix_unit),
      kernels_(&loops.conv),
      gemm_(&loops.gemm),
      shape_(shape),
      epilogue_(epilogue),
      places_(shape.IsInBlocks()  ? kBlock
              : shape.planes <= 2 ? 2
                                  : kMostSplitPlanes),
      pixels_at_once_(shape.IsInBlocks() ? 1 : kPixelsAtOnce),
      strips_(0, 1) {
  const Window& window = shape.rows.window;
  const std::int64_t pairs = window.kernel[1] * places_ / 2;
  parts_of_row_ = CeilDiv(pairs, kSplitGroup);
  pairs_of_step_ = CeilDiv(pairs, parts_of_row_);
  const std::int64_t last_pixel = (TilesOfRow(shape) * kSplitRows - 1) * window.strides[1];
  const std::int64_t read = CeilDiv(2 * pairs_of_step_ * parts_of_row_, places_);
  const std::int64_t written = shape.rows.Left() + Written();
  row_numbers_ =
      CeilDiv(std::max(last_pixel + read, written), pixels_at_once_) * pixels_at_once_ * places_;
  strips_ = EvenSplit(shape.out.height, RowsOfTask(shape, Sheets() * row_numbers_));
  FindSteps();
  FindPanelRows();
}

void SplitImageConv2d::FindSteps() {
  const Window& window = shape_.rows.window;
  for (std::int64_t sheet = 0; sheet < Sheets(); ++sheet) {
    for (std::int64_t row = 0; row < window.kernel[0]; ++row) {
      const std::int64_t first =
          sheet * NumbersOfSheet() + row * window.dilations[0] * row_numbers_;
      for (std::int64_t part = 0; part < parts_of_row_; ++part) {
        step_offsets_.push_back(static_cast<std::int32_t>(first + part * 2 * pairs_of_step_));
      }
    }
  }
}

void SplitImageConv2d::FindPanelRows() {
  const std::int64_t taps = Taps();
  if (shape_.IsInBlocks()) {
    for (std::int64_t i = 0; i < shape_.in_blocks * taps * kBlock; ++i) {
      panel_rows_.push_back(PanelRowOf(i / kBlock / taps, i % kBlock, i / kBlock % taps));
    }
  } else {
    for (std::int64_t i = 0; i < shape_.planes * taps; ++i) {
      panel_rows_.push_back(PanelRowOf(0, i / taps, i % taps));
    }
  }
}

std::int64_t SplitImageConv2d::Written() const {
  return CeilDiv(shape_.rows.Kept(), pixels_at_once_) * pixels_at_once_;
}

std::int32_t SplitImageConv2d::PanelRowOf(std::int64_t sheet, std::int64_t place,
                                          std::int64_t tap) const {
  const Ints& kernel = shape_.rows.window.kernel;
  const std::int64_t of_step = 2 * pairs_of_step_;
  const std::int64_t i = tap % kernel[1] * places_ + place;
  const std::int64_t row = sheet * kernel[0] + tap / kernel[1];
  const std::int64_t step = row * parts_of_row_ + i / of_step;
  return static_cast<std::int32_t>(step * kSplitStep + i % 2 * kSplitGroup + i % of_step / 2);
}

std::optional<SplitImageConv2d> SplitImageConv2d::Plan(const InnerLoops& loops,
                                                       const SplitImageShape& shape,
                                                       const BlockedEpilogue& epilogue) {
  if (loops.matrix_unit == nullptr || shape.planes > kMostSplitPlanes || !IsSmall(shape)) {
    return std::nullopt;
  }
  const SplitImageConv2d conv(loops, shape, epilogue);
  // Rows of products are cut more finely than rows of an image.
  const bool is_whole = shape.IsInBlocks() && conv.Strips() < kFewestTasks;
  if (is_whole || conv.UnitCycles() >= conv.OtherCycles()) return std::nullopt;
  return conv;
}

double SplitImageConv2d::UnitCycles() const {
  const auto blocks = static_cast<double>(shape_.OutBlocks());
  const auto steps = static_cast<double>(Steps());
  const auto tiles = static_cast<double>(shape_.out.height * TilesOfRow(shape_));
  const std::int64_t groups = NumbersOfPart() / places_ / pixels_at_once_;
  const double of_group = shape_.IsInBlocks() ? kBlockPixelCycles : kPixelsCycles;
  const double of_strip =
      blocks * steps * kPanelStepCycles + static_cast<double>(groups) * of_group + kStartCycles;
  const double of_product = Steps() > kNearSteps ? kFarProductCycles : kProductCycles;
  return static_cast<double>(strips_.blocks()) * of_strip +
         tiles * blocks * (steps * kSplitProducts * of_product + kSumsCycles);
}

double SplitImageConv2d::OtherCycles() const {
  const std::int64_t pixels = shape_.out.Pixels();
  const std::int64_t blocks = shape_.OutBlocks();
  const std::int64_t depth =
      (shape_.IsInBlocks() ? shape_.in_blocks * kBlock : shape_.planes) * Taps();
  const double ordinary =
      static_cast<double>(pixels * blocks) * static_cast<double>(depth) * kOrdinaryCycles;
  if (!shape_.IsInBlocks() || Taps() > SplitConv2d::kMostTaps) return ordinary;
  const PanelNumbers numbers = shape_.half_weights ? PanelNumbers::kHalf : PanelNumbers::kFloat;
  return std::min(ordinary,
                  SplitBlocking::UnitCycles(pixels, blocks, depth, numbers) * kFindingRows);
}

// ---- A task ------------------------------------------------------------------------------------

/// Some output rows of a group of an image by some output blocks.
class SplitImageConv2d::Task {
 public:
  Task(const SplitImageConv2d& conv, const KernelArguments& args, std::int64_t image_group,
       std::int64_t strip, std::byte* memory, const Compute& compute, int worker)
      : conv_(conv),
        args_(args),
        compute_(compute),
        worker_(worker),
        image_group_(image_group),
        first_row_(conv.strips_.begin(strip)),
        last_row_(conv.strips_.end(strip)),
        parts_(reinterpret_cast<std::uint16_t*>(memory)),
        tiles_(parts_ + kSplitParts * conv.NumbersOfPart()),
        panel_(reinterpret_cast<float*>(tiles_ + kSplitPanels * conv.Steps() * kSplitStepNumbers)) {
  }

  /// Of output blocks [first, last) of the group.
  void Run(std::int64_t first, std::int64_t last) {
    SplitImage();
    std::fill_n(panel_, conv_.Steps() * kSplitStep * kBlock, 0.0F);
    StartedUnit started(conv_.unit_);
    started.Start(kSplitRows, conv_.pairs_of_step_);
    const std::int64_t group = image_group_ % conv_.shape_.group * conv_.shape_.OutBlocks();
    for (std::int64_t block = group + first; block < group + last; block += kSplitPanels) {
      const auto panels =
          static_cast<int>(std::min<std::int64_t>(kSplitPanels, group + last - block));
      for (int i = 0; i < panels; ++i) SplitPanel(block + i, i);
      Multiply(block, panels);
    }
    Finish(unfinished_);
  }

 private:
  /// Sums of some tiles and blocks.
  struct Sums {
    std::int64_t first_tile;
    int tiles;  ///< 0: none
    std::int64_t block;
    int panels;
    const float* sums;
  };

  /// The rows of the image that the output rows read, with zeros about them.
  void SplitImage() const {
    const PaddedRows& rows = conv_.shape_.rows;
    const std::int64_t part = conv_.NumbersOfPart();
    const std::int64_t left = rows.Left() * conv_.places_;
    const std::int64_t written = left + conv_.Written() * conv_.places_;
    const std::int64_t first = first_row_ * rows.window.strides[0] - rows.window.pads_begin[0];
    const std::int64_t last = first + rows.Count(last_row_ - first_row_);
    for (std::int64_t sheet = 0; sheet < conv_.Sheets(); ++sheet) {
      std::uint16_t* to = parts_ + sheet * conv_.NumbersOfSheet();
      for (std::int64_t row = first; row < last; ++row, to += conv_.row_numbers_) {
        const bool is_inside = row >= 0 && row < rows.in_height;
        for (int i = 0; i < kSplitParts; ++i) {
          std::uint16_t* const of_part = to + i * part;
          std::fill_n(of_part, is_inside ? left : conv_.row_numbers_, 0);
          if (is_inside) std::fill(of_part + written, of_part + conv_.row_numbers_, 0);
        }
        if (is_inside) SplitRow(sheet, row, to + left);
      }
    }
  }

  void SplitRow(std::int64_t sheet, std::int64_t row, std::uint16_t* to) const {
    const SplitImageShape& shape = conv_.shape_;
    const PaddedRows& rows = shape.rows;
    const std::int64_t plane = rows.in_height * rows.in_width;
    const std::int64_t part = conv_.NumbersOfPart();
    if (!shape.IsInBlocks()) {
      conv_.unit_->split_planes(
          {.first = args_.in<float>(0) + image_group_ * shape.planes * plane + row * rows.in_width,
           .plane = plane,
           .planes = shape.planes,
           .pixels = rows.Kept()},
          part, to);
      return;
    }
    const bool is_last = sheet + 1 == shape.in_blocks;
    const std::int64_t block = image_group_ * shape.in_blocks + sheet;
    conv_.unit_->split_pixels(
        args_.in<float>(0) + (block * plane + row * rows.in_width) * kBlock, rows.Kept(),
        static_cast<std::int32_t>(is_last ? shape.last_channels : kBlock), part, to);
  }

  /// The weights of a block in the order of the numbers of a row of A, two in each pair.
  void SplitPanel(std::int64_t block, int number) const {
    std::int64_t at = block * static_cast<std::int64_t>(conv_.panel_rows_.size()) * kBlock;
    for (const std::int32_t row : conv_.panel_rows_) {
      CopyWeights(at, panel_ + row * kBlock);
      at += kBlock;
    }
    conv_.unit_->split_panel(PanelNumbers::kFloat, panel_, conv_.Steps() * kSplitStep,
                             tiles_ + number * conv_.Steps() * kSplitStepNumbers);
  }

  void CopyWeights(std::int64_t at, float* to) const {
    if (conv_.shape_.half_weights) {
      conv_.gemm_->widen(args_.in<std::uint16_t>(1) + at, kBlock, to);
    } else {
      std::copy_n(args_.in<float>(1) + at, kBlock, to);
    }
  }

  /// A tile of output pixels of the task, counted row by row.
  Pixels TileAt(std::int64_t tile) const {
    const std::int64_t of_row = TilesOfRow(conv_.shape_);
    const std::int64_t first = tile % of_row * kSplitRows;
    return {image_group_ / conv_.shape_.group, first_row_ + tile / of_row, first,
            std::min(first + kSplitRows, conv_.shape_.out.width)};
  }

  /// What the first output pixel of a tile reads.
  std::int64_t InputOf(const Pixels& tile) const {
    const Ints& strides = conv_.shape_.rows.window.strides;
    return (tile.row - first_row_) * strides[0] * conv_.row_numbers_ +
           tile.first * strides[1] * conv_.places_;
  }

  void Multiply(std::int64_t block, int panels) {
    const std::int64_t tiles = (last_row_ - first_row_) * TilesOfRow(conv_.shape_);
    PixelsProduct product{.a = nullptr,
                          .part = conv_.NumbersOfPart(),
                          .pixel = conv_.shape_.rows.window.strides[1] * conv_.places_,
                          .second = 0,
                          .step_offsets = conv_.step_offsets_.data(),
                          .steps = conv_.Steps(),
                          .b = tiles_,
                          .panels = panels,
                          .tiles = 1,
                          .start = {},
                          .sums = nullptr};
    for (int i = 0; i < panels; ++i) product.start[i] = BiasOfBlock(args_, block + i);
    for (std::int64_t tile = 0; tile < tiles; tile += product.tiles) {
      product.tiles = static_cast<int>(std::min(kTilesAtOnce, tiles - tile));
      product.sums = sums_[0];
      const std::int64_t input = InputOf(TileAt(tile));
      product.a = parts_ + input;
      if (product.tiles > 1) product.second = InputOf(TileAt(tile + 1)) - input;
      conv_.unit_->multiply_pixels(product);
      // The processor does this while the unit works.
      Finish(unfinished_);
      unfinished_ = {tile, product.tiles, block, panels, product.sums};
      std::swap(sums_[0], sums_[1]);
    }
  }

  void Finish(const Sums& some) const {
    for (int i = 0; i < some.tiles; ++i) {
      const Pixels pixels = TileAt(some.first_tile + i);
      for (int panel = 0; panel < some.panels; ++panel) {
        FinishTile(pixels, some.block + panel,
                   some.sums + panel * kSplitPairSums + i * kSplitRows * kBlock);
      }
    }
  }

  /// Which pixels are computed otherwise depends on what they read, which may be a pixel more on
  /// the right, times zero, but not on those that are computed beside them.
  void FinishTile(const Pixels& pixels, std::int64_t block, const float* sums) const {
    const auto is_finite = [&](std::int64_t pixel) {
      return conv_.unit_->are_below(kInfiniteSum, sums + (pixel - pixels.first) * kBlock, kBlock);
    };
    if (conv_.unit_->are_below(kInfiniteSum, sums, (pixels.last - pixels.first) * kBlock)) {
      return FinishPixels(pixels, block, sums);
    }
    for (std::int64_t first = pixels.first; first < pixels.last;) {
      const bool are_finite = is_finite(first);
      std::int64_t last = first + 1;
      while (last < pixels.last && is_finite(last) == are_finite) ++last;
      const Pixels run{pixels.image, pixels.row, first, last};
      if (are_finite) {
        FinishPixels(run, block, sums + (first - pixels.first) * kBlock);
      } else {
        compute_(run, block, worker_);
      }
      first = last;
    }
  }

  void FinishPixels(const Pixels& pixels, std::int64_t block, const float* sums) const {
    const BlockedImage& out = conv_.shape_.out;
    const std::int64_t at = (pixels.image * out.blocks + block) * out.BlockFloats() +
                            (pixels.row * out.width + pixels.first) * kBlock;
    const float* const residual = OptionalInput(args_, 3);
    conv_.kernels_->finish(
        conv_.epilogue_.WithResidual(residual == nullptr ? nullptr : residual + at), sums,
        pixels.last - pixels.first, args_.out<float>(0) + at);
  }

  const SplitImageConv2d& conv_;
  const KernelArguments& args_;
  const Compute& compute_;
  const int worker_;
  const std::int64_t image_group_;
  const std::int64_t first_row_;
  const std::int64_t last_row_;
  std::uint16_t* const parts_;  ///< [part][sheet][row of the image][pixel][place]
  std::uint16_t* const tiles_;  ///< [panel][step][part]
  float* const panel_;          ///< [step][32][16], zeros where there is no weight
  alignas(64) float memory_[2][kSplitPanels * kSplitPairSums];
  float* sums_[2] = {memory_[0], memory_[1]};
  Sums unfinished_{};
};

std::size_t SplitImageConv2d::scratch_bytes() const {
  return static_cast<std::size_t>(kSplitParts * NumbersOfPart() +
                                  kSplitPanels * Steps() * kSplitStepNumbers) *
             sizeof(std::uint16_t) +
         static_cast<std::size_t>(Steps() * kSplitStep * kBlock) * sizeof(float);
}

void SplitImageConv2d::Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
                           const Compute& compute) const {
  const EvenSplit blocks = BlocksOfTask(args.pool->size());
  args.pool->Run(Strips() * blocks.blocks(), [&](std::int64_t task, int worker) {
    const std::int64_t strip = task % Strips();
    const std::int64_t part = task / Strips();
    Task(*this, args, strip / strips_.blocks(), strip % strips_.blocks(),
         args.scratch + static_cast<std::size_t>(worker) * stride + offset, compute, worker)
        .Run(blocks.begin(part), blocks.end(part));
  });
}

/// Where workers would have unequally much to do, they share out the output blocks, too.
EvenSplit SplitImageConv2d::BlocksOfTask(int workers) const {
  const std::int64_t out_blocks = shape_.OutBlocks();
  for (std::int64_t largest = out_blocks; largest > 0; largest -= kSplitPanels) {
    const EvenSplit blocks(out_blocks, largest, kSplitPanels);
    if (Strips() * blocks.blocks() % workers == 0) return blocks;
  }
  return {out_blocks, out_blocks};
}

}  // namespace poprt::kernels
