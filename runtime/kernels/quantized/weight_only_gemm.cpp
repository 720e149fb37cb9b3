#include "runtime/kernels/quantized/weight_only_gemm.hpp"

#include <algorithm>
#include <memory>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/alternating_order.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"

namespace poprt::kernels {
namespace {

/// Sizes of rows of A as IntegerRows, which all threads share, and where they begin in it.
struct IntegerRowsLayout {
  IntegerRowsLayout(std::int64_t row_count, const IntegerDepth& depth)
      : rows(row_count),
        words(OddLines(OfBlocks(depth,
                                [&](std::int64_t count) {
                                  // Two multiples each, of whole groups.
                                  const std::int64_t of_group = RowsOfGroup(depth.bits);
                                  return (count + of_group - 1) / of_group * of_group / 2;
                                }))),
        spans(OfBlocks(depth, [](std::int64_t count) { return (count + kSpan - 1) / kSpan; })) {}

  /// At least so many words: rows that are an odd number of cache lines apart share none of the
  /// first-level cache's sets.
  static std::int64_t OddLines(std::int64_t words) {
    constexpr std::int64_t kLine = 16;
    return ((words + kLine - 1) / kLine | 1) * kLine;
  }

  /// The sum over all blocks of what `of` gives for their rows.
  template <typename Of>
  static std::int64_t OfBlocks(const IntegerDepth& depth, Of of) {
    return depth.depth / depth.block * of(depth.block) + of(depth.depth % depth.block);
  }

  /// Of 32 bits.
  std::int64_t Elements() const { return rows * (words + 2 * spans); }

  /// Row `row` and those behind it.
  IntegerRows At(std::byte* memory, std::int64_t row) const {
    auto* const elements = reinterpret_cast<std::uint32_t*>(memory);
    return {
        .words = elements + row * words,
        .words_stride = words,
        .scales = reinterpret_cast<float*>(elements + rows * words) + row * spans,
        .bases = reinterpret_cast<std::int32_t*>(elements + rows * (words + spans)) + row * spans,
        .spans = spans};
  }

  std::int64_t rows;
  std::int64_t words;
  std::int64_t spans;
};

struct WeightOnlyGemm {
  const GemmMicroKernels* loops;
  const IntegerRowKernels* kernels;
  GemmShape shape;
  IntegerDepth depth;
  std::int64_t panel_bytes;
  Epilogue epilogue;
  EvenSplit rows;
  EvenSplit panels;
  IntegerRowsLayout scaled;
  std::size_t shared_bytes = 0;  ///< of `scaled`, at the start of the scratch memory
  std::size_t scratch_bytes = 0;
  AlternatingOrder order = {};

  static constexpr std::int64_t kTileStride = kMostIntegerRows * kPanel;
  static constexpr std::int64_t kTileFloats = kTilePanels * kTileStride;

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.column_bias = args.inputs.size() > 2 ? args.in<float>(2) : nullptr;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    args.pool->Run(shape.rows, [&](std::int64_t row, int worker) { ScaleRow(args, row, worker); });
    const auto task = [&](std::int64_t index, int worker) {
      MultiplyBlock(args, index / panels.blocks(), index % panels.blocks(), finish,
                    OwnScratch(args, worker));
    };
    args.pool->Run(rows.blocks() * panels.blocks(), task,
                   shape.rows > kTileRows ? TaskOrder::kForwards : order.Next());
  }

 private:
  float* OwnScratch(const KernelArguments& args, int worker) const {
    return reinterpret_cast<float*>(args.scratch + shared_bytes +
                                    static_cast<std::size_t>(worker) * scratch_bytes);
  }

  void ScaleRow(const KernelArguments& args, std::int64_t row, int worker) const {
    const IntegerRows to = scaled.At(args.scratch, row);
    const std::int64_t first = row * shape.depth;
    if (!shape.half) return kernels->scale_row(args.in<float>(0) + first, depth, to);
    float* const widened = OwnScratch(args, worker);
    loops->widen(args.in<std::uint16_t>(0) + first, shape.depth, widened);
    kernels->scale_row(widened, depth, to);
  }

  void MultiplyBlock(const KernelArguments& args, std::int64_t row_block, std::int64_t panel_block,
                     const Epilogue& finish, float* tile) const {
    const std::int64_t first_row = rows.begin(row_block);
    const RegisterTiles tiles(rows.end(row_block) - first_row, kernels->rows);
    const std::int64_t end = panels.end(panel_block);
    int count = 0;
    for (std::int64_t panel = panels.begin(panel_block); panel < end; panel += count) {
      count = static_cast<int>(std::min<std::int64_t>(kernels->panels, end - panel));
      const IntegerPanels b{
          .first = args.inputs[1] + panel * panel_bytes, .stride = panel_bytes, .count = count};
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        const std::int64_t row = first_row + tiles.begin(t);
        kernels->multiply(tiles.size(t), scaled.At(args.scratch, row), b, depth,
                          {tile, kTileStride});
        for (int i = 0; i < count; ++i) {
          const std::int64_t column = (panel + i) * kPanel;
          loops->finish(finish, tile + i * kTileStride, kPanel, tiles.size(t),
                        std::min(kPanel, shape.columns - column), row, column);
        }
      }
    }
  }
};

}  // namespace

BoundKernel BindWeightOnlyGemm(const KernelCall& call, const InnerLoops& loops,
                               const ByteMicroKernels& kernels) {
  const GemmShape shape = RequireGemm(call);
  const IntegerForm form{.bits = RequirePositive(call.attributes, "bits"),
                         .block = RequirePositive(call.attributes, "block")};
  const TensorType packed = PackedIntegersType(shape.depth, shape.columns, form);
  RequireType(call.inputs[1], packed, "the weights, input 1,");
  if (shape.rows == 0) return NothingToRun();

  const MatrixBlocking blocking(1, shape.rows, packed.shape[0], shape.depth, shape.half);
  const IntegerDepth depth{.depth = shape.depth, .block = form.block, .bits = form.bits};
  const std::shared_ptr<WeightOnlyGemm> gemm(new WeightOnlyGemm{
      .loops = &loops.gemm,
      .kernels = form.bits == kWideBits ? kernels.wide_integer_rows : kernels.integer_rows,
      .shape = shape,
      .depth = depth,
      .panel_bytes = packed.shape[1] * packed.shape[2],
      .epilogue = EpilogueWithActivation(call.attributes),
      .rows = blocking.rows,
      .panels = blocking.panels,
      .scaled = IntegerRowsLayout(shape.rows, depth)});
  gemm->epilogue.row_stride = shape.columns;
  gemm->epilogue.half = shape.half;
  const Ints block_sizes = CutIntoBlocks(call.attributes, {&gemm->rows, &gemm->panels});
  gemm->shared_bytes = FloatScratchBytes(gemm->scaled.Elements());
  gemm->scratch_bytes =
      gemm->shared_bytes +
      FloatScratchBytes(std::max(WeightOnlyGemm::kTileFloats, shape.half ? shape.depth : 0));
  return {.run = [gemm](const KernelArguments& args) { gemm->Run(args); },
          .scratch_bytes = gemm->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
