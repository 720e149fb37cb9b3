#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/gemv_kernels.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/split_matrix_block.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/transpose_block.hpp"

namespace poprt::kernels {
namespace {

/// A leading extent of the result and how far one step along it moves in each matrix operand; zero
/// where the operand is repeated.
struct BatchAxis {
  std::int64_t extent;
  std::int64_t step_a;
  std::int64_t step_b;
};

struct BatchMatMul {
  const GemmMicroKernels* kernels;
  std::size_t left = 0;  ///< the operands that are multiplied
  std::size_t right = 1;
  const GemvKernels* thin = nullptr;  ///< for matrices of few rows, which need no packing
  std::int64_t thin_columns = 0;      ///< of a task then
  std::vector<BatchAxis> axes;
  std::int64_t products;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  bool half;
  bool transposed;
  bool swapped;          ///< the transpose of the product is computed, of few columns
  bool transposes_left;  ///< and its left operand transposed first
  Epilogue epilogue;
  MatrixBlocking blocking;
  const MatrixUnit* unit = nullptr;
  std::optional<SplitBlocking> split = std::nullopt;  ///< where the matrix unit is faster
  std::size_t scratch_bytes = 0;

  /// Floats of `count` packed panels of so many rows, and of what gathering writes behind them.
  static std::int64_t PanelFloats(std::int64_t count, std::int64_t n) {
    return (count * n + 1) * kPanel;
  }

  /// Copies rows [k, k + n) of 16 columns of B.
  void Pack(const std::byte* b, const std::byte* end, std::int64_t panel, std::int64_t k,
            std::int64_t n, float* target) const {
    const std::int64_t column = panel * kPanel;
    const std::int64_t count = std::min(kPanel, columns - column);
    const std::int64_t first = transposed ? column * depth + k : k * columns + column;
    if (transposed && half) {
      kernels->gather_transposed_f16(reinterpret_cast<const std::uint16_t*>(b) + first, depth,
                                     count, n, target);
    } else if (transposed) {
      kernels->gather_transposed_f32(reinterpret_cast<const float*>(b) + first, depth, count, n,
                                     target);
    } else {
      const PanelSegment all{.offset = 0, .at = 0, .count = count};
      if (half) {
        kernels->gather_f16(reinterpret_cast<const std::uint16_t*>(b) + first, columns, n, &all, 1,
                            1, reinterpret_cast<const std::uint16_t*>(end), target);
      } else {
        kernels->gather_f32(reinterpret_cast<const float*>(b) + first, columns, n, &all, 1, 1,
                            reinterpret_cast<const float*>(end), target);
      }
    }
  }

  /// Which matrices of A and B a product is of.
  std::pair<std::int64_t, std::int64_t> MatricesOf(std::int64_t product) const {
    std::pair<std::int64_t, std::int64_t> matrices{0, 0};
    for (std::size_t i = axes.size(); i-- > 0;) {
      const BatchAxis& axis = axes[i];
      matrices.first += product % axis.extent * axis.step_a;
      matrices.second += product % axis.extent * axis.step_b;
      product /= axis.extent;
    }
    return matrices;
  }

  std::int64_t ThinTasks() const { return (columns - 1) / thin_columns + 1; }

  /// Some columns of a product of few rows.
  void RunThinTask(const KernelArguments& args, std::int64_t index, float* scratch) const {
    const std::int64_t tasks = ThinTasks();
    const std::int64_t product = index / tasks;
    const std::int64_t column = index % tasks * thin_columns;
    const std::int64_t count = std::min(thin_columns, columns - column);
    const auto [matrix_a, matrix_b] = MatricesOf(product);
    const float* a = args.in<float>(left) + matrix_a * rows * depth;
    float* const turned = scratch + rows * thin_columns;
    if (transposes_left) {
      float* const copy = turned + rows * thin_columns;
      TransposeBlock(a, rows, depth, rows, copy, depth);
      a = copy;
    }
    const float* b = args.in<float>(right) + matrix_b * depth * columns;
    if (transposed) {
      thin->by_columns(rows, a, b + column * depth, depth, depth, count, scratch);
    } else {
      thin->by_rows(rows, a, b + column, columns, depth, count, scratch);
    }
    Epilogue finish = epilogue;
    finish.out = args.outputs[0];
    if (swapped && rows > 1) {
      TransposeBlock(scratch, count, rows, count, turned, rows);
      return kernels->finish(finish, turned, rows, count, rows, product * columns + column, 0);
    }
    kernels->finish(finish, scratch, count, rows, count, product * rows, column);
  }

  void RunThin(const KernelArguments& args) const {
    ForRanges(args.pool, products * ThinTasks(), GrainFor(thin_columns * depth * rows),
              [&](std::int64_t begin, std::int64_t end, int worker) {
                for (std::int64_t i = begin; i < end; ++i) {
                  RunThinTask(args, i, WorkerScratch(args, worker, scratch_bytes));
                }
              });
  }

  /// One of the products: its matrices, and what the results are finished with.
  struct Product {
    const std::byte* a;
    const std::byte* b;
    const std::byte* b_end;
    std::int64_t first_row;  ///< of the result
    Epilogue finish;
  };

  Product ProductAt(const KernelArguments& args, std::int64_t number) const {
    const auto [matrix_a, matrix_b] = MatricesOf(number);
    const std::int64_t size = half ? 2 : 4;
    const std::byte* const b = args.inputs[right] + matrix_b * depth * columns * size;
    Product product{.a = args.inputs[left] + matrix_a * rows * depth * size,
                    .b = b,
                    .b_end = b + depth * columns * size,
                    .first_row = number * rows,
                    .finish = epilogue};
    product.finish.out = args.outputs[0];
    return product;
  }

  MatrixBlock BlockOf(const Product& product, std::int64_t row, std::int64_t count,
                      std::int64_t first_panel, std::int64_t last_panel) const {
    return {.a = product.a + row * depth * (half ? 2 : 4),
            .a_half = half,
            .lda = depth,
            .rows = count,
            .depth = depth,
            .first_row = product.first_row + row,
            .columns = columns,
            .first_panel = first_panel,
            .last_panel = last_panel};
  }

  /// Without a matrix unit. `panels` has room for those that are multiplied at once.
  void Multiply(const Product& product, const MatrixBlocking& by, const MatrixBlock& block,
                float* scratch, float* panels) const {
    MultiplyBlock(
        *kernels, by, block,
        [&](std::int64_t p, int count, std::int64_t k, std::int64_t n) {
          for (int i = 0; i < count; ++i) {
            Pack(product.b, product.b_end, p + i, k, n, panels + i * n * kPanel);
          }
          return PanelsView{.data = panels, .stride = n * kPanel};
        },
        product.finish, scratch);
  }

  void RunTask(const KernelArguments& args, std::int64_t index, float* scratch) const {
    const std::int64_t panel_block = index % blocking.panels.blocks();
    index /= blocking.panels.blocks();
    const std::int64_t row_block = index % blocking.rows.blocks();
    const Product product = ProductAt(args, index / blocking.rows.blocks());
    const std::int64_t row = blocking.rows.begin(row_block);
    Multiply(product, blocking,
             BlockOf(product, row, blocking.rows.end(row_block) - row,
                     blocking.panels.begin(panel_block), blocking.panels.end(panel_block)),
             scratch, scratch + blocking.ScratchFloats());
  }

  // ---- On the matrix unit ----------------------------------------------------------------------

  /// Whether columns of B are split where they lie.
  bool ReadsRows() const { return split->numbers() == PanelNumbers::kRows; }
  int PackedPanels() const { return ReadsRows() ? 0 : kSplitPanels; }

  /// Scratch memory: of the unit; for panels of a part of the depth, those that are packed to be
  /// split and one of what is computed without the unit, and what is behind each; for results of
  /// that.
  std::int64_t FloatsOfSplitPanel() const { return PanelFloats(1, split->depth().largest()); }
  MatrixBlocking Rest() const { return BlockingOfRest(*split, half); }
  std::size_t SplitScratch() const {
    return split->ScratchBytes() +
           FloatScratchBytes((PackedPanels() + 1) * FloatsOfSplitPanel() + Rest().ScratchFloats());
  }

  RowsPanel RowsPanelAt(const Product& product, std::int64_t panel, std::int64_t k) const {
    const std::int64_t column = panel * kPanel;
    return {.first = reinterpret_cast<const float*>(product.b) + k * columns + column,
            .stride = columns,
            .columns = static_cast<std::int32_t>(std::min(kPanel, columns - column))};
  }

  void RunSplitTask(const Product& product, const SplitTask& task, std::byte* scratch) const {
    auto* const panels = reinterpret_cast<float*>(scratch + split->ScratchBytes());
    RowsPanel rows_panels[kSplitPanels];
    const auto panel_at = [&](std::int64_t panel, std::int64_t k, std::int64_t n) -> const void* {
      if (ReadsRows()) return &(rows_panels[panel % kSplitPanels] = RowsPanelAt(product, panel, k));
      float* const packed = panels + panel % kSplitPanels * FloatsOfSplitPanel();
      Pack(product.b, product.b_end, panel, k, n, packed);
      return packed;
    };
    const auto compute = [&](std::int64_t row, std::int64_t panel) {
      float* const of_rest = panels + PackedPanels() * FloatsOfSplitPanel();
      Multiply(product, Rest(), BlockOf(product, task.first_row + row, 1, panel, panel + 1),
               of_rest + FloatsOfSplitPanel(), of_rest);
    };
    MultiplySplitBlock(
        *unit, *kernels, *split,
        BlockOf(product, task.first_row, task.rows, task.first_panel, task.last_panel), panel_at,
        compute, product.finish, scratch);
  }

  void RunSplit(const KernelArguments& args) const {
    const SplitTasks tasks = split->Tasks(args.pool->size(), products);
    args.pool->Run(products * tasks.count(), [&](std::int64_t index, int worker) {
      RunSplitTask(ProductAt(args, index / tasks.count()), tasks.At(index % tasks.count()),
                   args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
    });
  }

  void Run(const KernelArguments& args) const {
    if (thin != nullptr) return RunThin(args);
    if (split.has_value()) return RunSplit(args);
    args.pool->Run(products * blocking.rows.blocks() * blocking.panels.blocks(),
                   [&](std::int64_t index, int worker) {
                     RunTask(args, index, WorkerScratch(args, worker, scratch_bytes));
                   });
  }
};

/// How the leading extents `shape`, aligned to the end of `result`, step through their matrices.
std::vector<std::int64_t> BatchSteps(const Shape& shape, const Shape& result) {
  std::vector<std::int64_t> steps(result.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1) steps[i + result.size() - shape.size()] = step;
    step *= shape[i];
  }
  return steps;
}

}  // namespace

BoundKernel BindBatchMatMul(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 2, 2);
  const TensorType& a = call.inputs[0];
  const TensorType& b = call.inputs[1];
  const bool half = RequireHalfOrFloat(a.element, "input 0");
  Require(b.element == a.element && a.shape.size() >= 2 && b.shape.size() >= 2,
          "inputs are " + ToString(a) + " and " + ToString(b) +
              ", expected are two matrices, or batches of them, of one type");
  bool transposed = call.attributes.get_int("trans_b", 0) != 0;
  std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t depth = a.shape.back();
  std::int64_t columns = transposed ? b.shape[b.shape.size() - 2] : b.shape.back();
  const std::int64_t depth_b = transposed ? b.shape.back() : b.shape[b.shape.size() - 2];
  Require(depth == depth_b && depth >= 1 && rows >= 1 && columns >= 1,
          "inputs " + ToString(a) + " and " + ToString(b) + " cannot be multiplied");
  Require(rows <= kLargestMatrixExtent && columns <= kLargestMatrixExtent &&
              depth <= kLargestMatrixExtent,
          "an extent is larger than 2^40");
  Shape batch_a(a.shape.begin(), a.shape.end() - 2);
  Shape batch_b(b.shape.begin(), b.shape.end() - 2);
  auto batch = Broadcast(batch_a, batch_b);
  Require(batch.has_value(),
          "inputs " + ToString(a) + " and " + ToString(b) + " do not broadcast to each other");
  TensorType result{a.element, *batch};
  result.shape.push_back(rows);
  result.shape.push_back(columns);
  RequireType(call.outputs[0], result, "output 0");
  if (ElementCount(*batch) == 0) return NothingToRun();
  // Matrices side by side that are multiplied by the same one are the rows of one.
  const auto last = [](const Shape& shape) { return shape.empty() ? 1 : shape.back(); };
  while (!batch->empty() && last(batch_a) == batch->back() && last(batch_b) == 1 &&
         batch->back() <= kLargestMatrixExtent / rows) {
    rows *= batch->back();
    for (Shape* shape : {&batch_a, &batch_b, &*batch}) {
      if (!shape->empty()) shape->pop_back();
    }
  }
  // Few columns become rows, by which the transpose of the other matrix is multiplied.
  const bool swapped = !half && columns <= kThinRows && (columns == 1 || rows > kThinRows);
  const bool transposes_left = swapped && columns > 1 && !transposed;
  if (swapped) {
    std::swap(rows, columns);
    transposed = true;
  }

  const std::int64_t products = ElementCount(*batch);
  const std::int64_t panels = columns / kPanel + (columns % kPanel != 0 ? 1 : 0);
  const auto matmul = std::make_shared<BatchMatMul>(
      BatchMatMul{.kernels = &loops.gemm,
                  .left = swapped ? std::size_t{1} : 0,
                  .right = swapped ? std::size_t{0} : 1,
                  .axes = {},
                  .products = products,
                  .rows = rows,
                  .columns = columns,
                  .depth = depth,
                  .half = half,
                  .transposed = transposed,
                  .swapped = swapped,
                  .transposes_left = transposes_left,
                  .epilogue = EpilogueWithActivation(call.attributes),
                  .blocking = MatrixBlocking(products, rows, panels, depth, half)});
  const auto steps_a = BatchSteps(swapped ? batch_b : batch_a, *batch);
  const auto steps_b = BatchSteps(swapped ? batch_a : batch_b, *batch);
  for (std::size_t i = 0; i < batch->size(); ++i) {
    matmul->axes.push_back({(*batch)[i], steps_a[i], steps_b[i]});
  }
  matmul->epilogue.scale = call.attributes.get_float("scale", 1.0F);
  matmul->epilogue.row_stride = swapped && rows > 1 ? rows : columns;
  matmul->epilogue.half = half;
  if (rows <= kThinRows && !half) {
    matmul->thin = &loops.gemv;
    const ThinOrder order = transposed ? ThinOrder::kByColumns : ThinOrder::kByRows;
    const Ints sizes = BlockSizes(call.attributes, {ThinColumns(order, depth, columns)});
    matmul->thin_columns = std::min(columns, sizes[0]);
    const std::int64_t turned = swapped ? matmul->thin_columns : 0;
    const std::int64_t copied = transposes_left ? depth : 0;
    matmul->scratch_bytes = FloatScratchBytes(rows * (matmul->thin_columns + turned + copied));
    return {.run = [matmul](const KernelArguments& args) { matmul->Run(args); },
            .scratch_bytes = matmul->scratch_bytes,
            .block_sizes = {matmul->thin_columns}};
  }
  const Ints block_sizes = matmul->blocking.Cut(call.attributes);
  matmul->scratch_bytes = FloatScratchBytes(
      matmul->blocking.ScratchFloats() +
      BatchMatMul::PanelFloats(kMostTilePanels, matmul->blocking.depth.largest()));
  matmul->unit = loops.matrix_unit;
  matmul->split = PlanSplitBlock(matmul->unit, rows, panels, depth,
                                 half || transposed ? PanelNumbers::kFloat : PanelNumbers::kRows);
  if (matmul->split.has_value()) matmul->scratch_bytes = matmul->SplitScratch();
  return {.run = [matmul](const KernelArguments& args) { matmul->Run(args); },
          .scratch_bytes = matmul->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
