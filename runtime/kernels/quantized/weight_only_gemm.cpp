#include "runtime/kernels/quantized/weight_only_gemm.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/alternating_order.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/panels_at_once.hpp"
#include "runtime/kernels/packed/split_matrix_block.hpp"
#include "runtime/kernels/quantized/integer_rows_layout.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"

namespace poprt::kernels {
namespace {

struct WeightOnlyGemm {
  const GemmMicroKernels* loops;
  const IntegerRowKernels* kernels;
  GemmShape shape;
  IntegerDepth depth;
  std::int64_t power_bytes;  ///< of the weights' rows, before their panels
  std::int64_t panel_bytes;
  Epilogue epilogue;
  EvenSplit rows;
  EvenSplit panels;
  IntegerRowsLayout scaled;  ///< of blocks of rows that are scaled together
  const MatrixUnit* unit = nullptr;
  std::optional<SplitBlocking> split = std::nullopt;  ///< where the matrix unit is faster
  std::size_t scratch_bytes = 0;  ///< of every worker, and room for what all share
  AlternatingOrder order = {};

  static constexpr std::int64_t kElementBytes = sizeof(std::uint32_t);
  static constexpr std::int64_t kTileStride = kMostIntegerRows * kPanel;
  static constexpr std::int64_t kTileFloats = kMostTilePanels * kTileStride;

  /// Whether rows of which rounding leaves too much are multiplied in two parts.
  bool MayLeave() const { return power_bytes > 0; }

  /// What all threads share, at the start of the scratch memory: rows, and where they may be left,
  /// what is left of them and whether that is much.
  std::size_t SharedBytes() const {
    const std::int64_t elements = scaled.Elements();
    return FloatScratchBytes(MayLeave() ? 2 * elements + scaled.rows : elements);
  }
  std::size_t OwnBytes() const {
    const std::int64_t row_buffers = (shape.half ? 1 : 0) + (MayLeave() ? 1 : 0);
    return FloatScratchBytes(std::max(2 * kTileFloats, row_buffers * shape.depth));
  }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.column_bias = args.inputs.size() > 2 ? args.in<float>(2) : nullptr;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    if (split.has_value()) return RunSplit(args, finish);
    const std::int64_t together = scaled.rows / rows.largest();
    for (std::int64_t block = 0; block < rows.blocks(); block += together) {
      RunBlocks(args, block, std::min(together, rows.blocks() - block), finish);
    }
  }

 private:
  void RunBlocks(const KernelArguments& args, std::int64_t first_block, std::int64_t count,
                 const Epilogue& finish) const {
    const std::int64_t first_row = rows.begin(first_block);
    args.pool->Run(rows.end(first_block + count - 1) - first_row,
                   [&](std::int64_t i, int worker) { ScaleRow(args, first_row, i, worker); });
    const auto task = [&](std::int64_t index, int worker) {
      MultiplyBlock(args, first_row, first_block + index / panels.blocks(), index % panels.blocks(),
                    finish, OwnScratch(args, worker));
    };
    args.pool->Run(count * panels.blocks(), task,
                   shape.rows > kTileRows ? TaskOrder::kForwards : order.Next());
  }

  /// On the matrix unit, with weights of 16 bits.
  void RunSplit(const KernelArguments& args, const Epilogue& finish) const {
    const SplitTasks tasks = split->Tasks(args.pool->size());
    args.pool->Run(tasks.count(), [&](std::int64_t index, int worker) {
      const SplitTask task = tasks.At(index);
      const auto panel_at = [&](std::int64_t panel, std::int64_t k, std::int64_t) -> const void* {
        const IntegerForm form{.bits = depth.bits, .block = depth.block};
        return args.inputs[1] + power_bytes + panel * panel_bytes +
               (k > 0 ? PanelLines(k, form) * kIntegerLine : 0);
      };
      const auto compute = [&](std::int64_t row, std::int64_t panel) {
        float nans[kPanel];
        std::fill_n(nans, kPanel, std::numeric_limits<float>::quiet_NaN());
        const std::int64_t column = panel * kPanel;
        loops->finish(finish, nans, kPanel, 1, std::min(kPanel, shape.columns - column),
                      task.first_row + row, column);
      };
      const MatrixBlock block{
          .a = args.inputs[0] + task.first_row * shape.depth * (shape.half ? 2 : 4),
          .a_half = shape.half,
          .lda = shape.depth,
          .rows = task.rows,
          .depth = shape.depth,
          .first_row = task.first_row,
          .columns = shape.columns,
          .first_panel = task.first_panel,
          .last_panel = task.last_panel};
      MultiplySplitBlock(*unit, *loops, *split, block, panel_at, compute, finish,
                         args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
    });
  }

  float* OwnScratch(const KernelArguments& args, int worker) const {
    return reinterpret_cast<float*>(args.scratch + SharedBytes() +
                                    static_cast<std::size_t>(worker) * scratch_bytes);
  }

  /// What is left of a row and those behind it.
  IntegerRows LeftAt(const KernelArguments& args, std::int64_t row) const {
    return scaled.At(args.scratch + scaled.Elements() * kElementBytes, row);
  }
  /// Whether that is much, of every row.
  std::int32_t* IsLeft(const KernelArguments& args) const {
    return reinterpret_cast<std::int32_t*>(args.scratch + 2 * scaled.Elements() * kElementBytes);
  }

  /// Row i behind the first of those that are scaled together.
  void ScaleRow(const KernelArguments& args, std::int64_t first_row, std::int64_t i,
                int worker) const {
    float* buffer = OwnScratch(args, worker);
    const std::int64_t at = (first_row + i) * shape.depth;
    const float* x = args.in<float>(0) + at;
    if (shape.half) {
      loops->widen(args.in<std::uint16_t>(0) + at, shape.depth, buffer);
      x = std::exchange(buffer, buffer + shape.depth);
    }
    const IntegerRows to = scaled.At(args.scratch, i);
    kernels->scale_row(x, depth, to);
    if (!MayLeave()) return;
    const bool is_left = kernels->leave_row(x, depth, to, args.in<float>(1), buffer);
    IsLeft(args)[i] = is_left ? 1 : 0;
    if (is_left) kernels->scale_row(buffer, depth, LeftAt(args, i));
  }

  /// Adds to a tile of `count` rows, from row i on, what is left of them.
  void AddLeft(const KernelArguments& args, std::int64_t i, int count, const IntegerPanels& b,
               float* tile) const {
    const std::int32_t* const is_left = IsLeft(args) + i;
    if (std::all_of(is_left, is_left + count, [](std::int32_t flag) { return flag == 0; })) return;
    // Of the others whatever was left there before.
    float* const added = tile + kTileFloats;
    kernels->multiply(count, LeftAt(args, i), b, depth, {added, kTileStride});
    for (int r = 0; r < count; ++r) {
      if (is_left[r] == 0) continue;
      for (int panel = 0; panel < b.count; ++panel) {
        const std::int64_t at = panel * kTileStride + r * kPanel;
        std::transform(tile + at, tile + at + kPanel, added + at, tile + at, std::plus<>());
      }
    }
  }

  void MultiplyBlock(const KernelArguments& args, std::int64_t first_row, std::int64_t row_block,
                     std::int64_t panel_block, const Epilogue& finish, float* tile) const {
    const std::int64_t first = rows.begin(row_block);
    const RegisterTiles tiles(rows.end(row_block) - first, kernels->rows);
    const std::int64_t end = panels.end(panel_block);
    int count = 0;
    for (std::int64_t panel = panels.begin(panel_block); panel < end; panel += count) {
      count =
          PanelsOf(end - panel, shape.rows == 1 ? kernels->panels_of_few_rows : kernels->panels);
      const IntegerPanels b{.first = args.inputs[1] + power_bytes + panel * panel_bytes,
                            .stride = panel_bytes,
                            .count = count};
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        const std::int64_t row = first + tiles.begin(t);
        kernels->multiply(tiles.size(t), scaled.At(args.scratch, row - first_row), b, depth,
                          {tile, kTileStride});
        if (MayLeave()) AddLeft(args, row - first_row, tiles.size(t), b, tile);
        for (int i = 0; i < count; ++i) {
          const std::int64_t column = (panel + i) * kPanel;
          loops->finish(finish, tile + i * kTileStride, kPanel, tiles.size(t),
                        std::min(kPanel, shape.columns - column), row, column);
        }
      }
    }
  }
};

/// How many rows are scaled at once: as many as stay in the caches, more where that makes them so
/// few that weights are read too often, and no more than scratch memory may hold.
std::int64_t RowsTogether(std::int64_t rows, const IntegerDepth& depth) {
  constexpr std::int64_t kCached = std::int64_t{1} << 20;  // elements
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  constexpr std::int64_t kFewest = 96;
  const std::int64_t of_row = IntegerRowsLayout(1, depth).Elements();
  const std::int64_t together = std::min(std::max(kFewest, kCached / of_row), kMost / of_row);
  return std::clamp<std::int64_t>(together, 1, rows);
}

}  // namespace

BoundKernel BindWeightOnlyGemm(const KernelCall& call, const InnerLoops& loops,
                               const ByteMicroKernels& kernels) {
  const GemmShape shape = RequireGemm(call);
  const IntegerForm form{.bits = RequirePositive(call.attributes, "bits"),
                         .block = RequirePositive(call.attributes, "block")};
  const TensorType packed = PackedIntegersType(shape.depth, shape.columns, form);
  RequireType(call.inputs[1], packed, "the weights, input 1,");
  if (shape.rows == 0) return NothingToRun();

  const std::int64_t panel_count = (shape.columns - 1) / kPanel + 1;
  MatrixBlocking blocking(1, shape.rows, panel_count, shape.depth, shape.half);
  const IntegerDepth depth{.depth = shape.depth, .block = form.block, .bits = form.bits};
  const Ints block_sizes = CutIntoBlocks(call.attributes, {&blocking.rows, &blocking.panels});
  const std::int64_t together = RowsTogether(shape.rows, depth);
  if (blocking.rows.largest() > together) blocking.rows = blocking.rows.WithLargest(together);
  const std::int64_t whole_blocks = together / blocking.rows.largest() * blocking.rows.largest();
  const std::shared_ptr<WeightOnlyGemm> gemm(new WeightOnlyGemm{
      .loops = &loops.gemm,
      .kernels = form.bits == kWideBits ? kernels.wide_integer_rows : kernels.integer_rows,
      .shape = shape,
      .depth = depth,
      .power_bytes = PowerLines(shape.depth, form) * kIntegerLine,
      .panel_bytes = PanelLines(shape.depth, form) * kIntegerLine,
      .epilogue = EpilogueWithActivation(call.attributes),
      .rows = blocking.rows,
      .panels = blocking.panels,
      .scaled = IntegerRowsLayout(whole_blocks, depth)});
  gemm->epilogue.row_stride = shape.columns;
  gemm->epilogue.half = shape.half;
  gemm->scratch_bytes = gemm->SharedBytes() + gemm->OwnBytes();
  static_assert(kScaledBlock == kWideBlock);
  if (form.bits == kWideBits && form.block == std::min(shape.depth, kScaledBlock)) {
    gemm->unit = loops.matrix_unit;
    gemm->split =
        PlanSplitBlock(gemm->unit, shape.rows, panel_count, shape.depth, PanelNumbers::kInteger);
    if (gemm->split.has_value()) gemm->scratch_bytes = gemm->split->ScratchBytes();
  }
  return {.run = [gemm](const KernelArguments& args) { gemm->Run(args); },
          .scratch_bytes = gemm->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
