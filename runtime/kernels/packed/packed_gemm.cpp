#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "runtime/kernels/packed/alternating_order.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/rows_in_parts.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/packed/split_matrix_block.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"

namespace poprt::kernels {
namespace {

/// Rows of a scaled panel, a multiple of kScaledBlock, that are widened at once, at most.
constexpr std::int64_t kMostWidened = 1024;

struct Gemm {
  const GemmMicroKernels* kernels;
  StoredPanels weights;
  std::int64_t columns;
  bool half;
  Epilogue epilogue;
  MatrixBlocking blocking;
  const MatrixUnit* unit = nullptr;
  std::optional<SplitBlocking> split = std::nullopt;  ///< where the matrix unit is faster
  std::optional<RowsInParts> scaled = std::nullopt;   ///< few rows, by weights that are not widened
  std::size_t scratch_bytes = 0;
  AlternatingOrder order = {};

  /// Tiles of more rows fetch what comes next, and weights are a lesser part of what they wait for.
  TaskOrder NextOrder() const {
    return blocking.rows.count() > kTileRows ? TaskOrder::kForwards : order.Next();
  }

  MatrixBlock BlockOf(const KernelArguments& args, std::int64_t row, std::int64_t rows,
                      std::int64_t first_panel, std::int64_t last_panel) const {
    return {.a = args.inputs[0] + row * weights.depth * (half ? 2 : 4),
            .a_half = half,
            .lda = weights.depth,
            .rows = rows,
            .depth = weights.depth,
            .first_row = row,
            .columns = columns,
            .first_panel = first_panel,
            .last_panel = last_panel};
  }

  MatrixBlocking Rest() const { return BlockingOfRest(*split, half); }

  /// Scratch memory of RunSplit: of the product, and of a panel that is read without the unit.
  std::size_t SplitScratch() const {
    return split->ScratchBytes() +
           FloatScratchBytes(Rest().ScratchFloats() +
                             weights.WidenedFloats(1, split->depth().largest()));
  }

  /// On the matrix unit.
  void RunSplit(const KernelArguments& args, const Epilogue& finish) const {
    const std::byte* const first = args.inputs[1];
    const MatrixBlocking rest = Rest();
    const SplitTasks tasks = split->Tasks(args.pool->size());
    args.pool->Run(tasks.count(), [&](std::int64_t index, int worker) {
      std::byte* const scratch = args.scratch + static_cast<std::size_t>(worker) * scratch_bytes;
      auto* const of_rest = reinterpret_cast<float*>(scratch + split->ScratchBytes());
      const SplitTask task = tasks.At(index);
      const auto panel_at = [&](std::int64_t panel, std::int64_t k, std::int64_t) -> const void* {
        return weights.At(first, panel, k);
      };
      const auto compute = [&](std::int64_t row, std::int64_t panel) {
        MultiplyBlock(
            *kernels, rest, BlockOf(args, task.first_row + row, 1, panel, panel + 1),
            [&](std::int64_t p, int count, std::int64_t k, std::int64_t n) {
              return weights.View(*kernels, first, p, count, k, n, of_rest + rest.ScratchFloats());
            },
            finish, of_rest);
      };
      MultiplySplitBlock(
          *unit, *kernels, *split,
          BlockOf(args, task.first_row, task.rows, task.first_panel, task.last_panel), panel_at,
          compute, finish, scratch);
    });
  }

  /// Few rows, which args.scratch holds for all threads; the depth is not cut.
  void RunScaled(const KernelArguments& args, const Epilogue& finish) const {
    const auto* const lines = args.in<std::int32_t>(1);
    const std::int64_t words = weights.Stride();
    const auto task = [&](std::int64_t block, int /*worker*/) {
      const std::int64_t first = blocking.panels.begin(block);
      const auto count = static_cast<int>(blocking.panels.end(block) - first);
      scaled->Multiply(args.scratch, {lines + first * words, words, count},
                       [&](std::int64_t row, std::int64_t rows, int panel, const float* tile) {
                         const std::int64_t column = (first + panel) * kPanel;
                         kernels->finish(finish, tile, kPanel, rows,
                                         std::min(kPanel, columns - column), row, column);
                       });
    };
    args.pool->Run(blocking.panels.blocks(), task, order.Next());
  }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.column_bias = args.inputs.size() > 2 ? args.in<float>(2) : nullptr;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    if (scaled.has_value() && scaled->Scale(args.in<float>(0), weights.depth, args.scratch)) {
      return RunScaled(args, finish);
    }
    if (split.has_value()) return RunSplit(args, finish);
    const auto task = [&](std::int64_t index, int worker) {
      const std::int64_t row_block = index / blocking.panels.blocks();
      const std::int64_t panel_block = index % blocking.panels.blocks();
      const std::int64_t row = blocking.rows.begin(row_block);
      const MatrixBlock block =
          BlockOf(args, row, blocking.rows.end(row_block) - row, blocking.panels.begin(panel_block),
                  blocking.panels.end(panel_block));
      float* const scratch = WorkerScratch(args, worker, scratch_bytes);
      MultiplyBlock(
          *kernels, blocking, block,
          [&](std::int64_t panel, int count, std::int64_t k, std::int64_t n) {
            return weights.View(*kernels, args.inputs[1], panel, count, k, n,
                                scratch + blocking.ScratchFloats());
          },
          finish, scratch);
    };
    args.pool->Run(blocking.rows.blocks() * blocking.panels.blocks(), task, NextOrder());
  }
};

}  // namespace

BoundKernel BindGemm(const KernelCall& call, const InnerLoops& loops) {
  const auto [half, rows, columns, depth] = RequireGemm(call);
  const TensorType& w = call.inputs[1];
  const bool are_scaled = w.element == ElementType::kInt32;
  const TensorType packed =
      PackedGemmType(depth, columns, are_scaled ? ElementType::kFloat32 : w.element);
  RequireType(w, are_scaled ? ScaledPanelsType(packed) : packed, "the weights, input 1,");
  Require(!are_scaled || !half, "scaled weights are for rows of float32, these are float16");

  const std::shared_ptr<Gemm> gemm(
      new Gemm{.kernels = &loops.gemm,
               .weights = {w.element, depth},
               .columns = columns,
               .half = half,
               .epilogue = EpilogueWithActivation(call.attributes),
               .blocking = MatrixBlocking(1, rows, packed.shape[0], depth, half)});
  gemm->epilogue.row_stride = columns;
  gemm->epilogue.half = half;
  Ints block_sizes = gemm->blocking.Cut(call.attributes);
  const auto bound = [&] {
    return BoundKernel{.run = [gemm](const KernelArguments& args) { gemm->Run(args); },
                       .scratch_bytes = gemm->scratch_bytes,
                       .block_sizes = block_sizes};
  };
  if (are_scaled) {
    // Of few rows, too: where these are not in parts, panels are widened a part after the other.
    EvenSplit& depths = gemm->blocking.depth;
    const std::int64_t largest = std::min(depths.largest(), kMostWidened);
    depths = EvenSplit(depth, CeilDiv(largest, kScaledBlock) * kScaledBlock, kScaledBlock);
    block_sizes.back() = depths.largest();
  }
  std::int64_t scratch_floats =
      gemm->blocking.ScratchFloats() +
      gemm->weights.WidenedFloats(kMostTilePanels, gemm->blocking.depth.largest());
  if (are_scaled && rows >= 1 && rows <= kMostScaledRows) {
    gemm->scaled.emplace(*loops.wide_rows, rows, depth);
    scratch_floats = std::max(scratch_floats, gemm->scaled->Elements());
  }
  gemm->scratch_bytes = FloatScratchBytes(scratch_floats);
  if (gemm->scaled.has_value()) return bound();
  gemm->unit = loops.matrix_unit;
  gemm->split = PlanSplitBlock(gemm->unit, rows, packed.shape[0], depth, gemm->weights.Numbers());
  if (gemm->split.has_value()) gemm->scratch_bytes = gemm->SplitScratch();
  return bound();
}

}  // namespace poprt::kernels
