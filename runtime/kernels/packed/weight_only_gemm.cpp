#include <algorithm>
#include <memory>
#include <string>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/alternating_order.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/pack_integers.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

struct WeightOnlyGemm {
  const GemmMicroKernels* kernels;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  bool half;
  IntegerForm form;
  std::int64_t panel_bytes;
  Epilogue epilogue;
  EvenSplit panels;
  std::size_t scratch_bytes = 0;
  AlternatingOrder order = {};

  static constexpr std::int64_t kTileFloats = kTilePanels * kTileRows * kPanel;
  std::int64_t ScratchFloats() const { return kTileFloats + (half ? rows * depth : 0); }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.column_bias = args.inputs.size() > 2 ? args.in<float>(2) : nullptr;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    args.pool->Run(
        panels.blocks(),
        [&](std::int64_t block, int worker) {
          float* const tile = WorkerScratch(args, worker, scratch_bytes);
          const float* a = half ? tile + kTileFloats : args.in<float>(0);
          if (half) kernels->widen(args.in<std::uint16_t>(0), rows * depth, tile + kTileFloats);
          RunPanels(a, args.inputs[1], panels.begin(block), panels.end(block), finish, tile);
        },
        order.Next());
  }

 private:
  void RunPanels(const float* a, const std::byte* weights, std::int64_t first, std::int64_t end,
                 const Epilogue& finish, float* tile) const {
    constexpr std::int64_t kStride = kTileRows * kPanel;
    int count = 0;
    for (std::int64_t panel = first; panel < end; panel += count) {
      count = static_cast<int>(std::min<std::int64_t>(kernels->panels, end - panel));
      const IntegerPanels b{.first = weights + panel * panel_bytes,
                            .stride = panel_bytes,
                            .count = count,
                            .bits = form.bits,
                            .block = form.block};
      kernels->few_rows_of_integers(static_cast<int>(rows), a, depth, b, depth, {tile, kStride});
      for (int i = 0; i < count; ++i) {
        const std::int64_t column = (panel + i) * kPanel;
        kernels->finish(finish, tile + i * kStride, kPanel, rows,
                        std::min(kPanel, columns - column), 0, column);
      }
    }
  }
};

}  // namespace

BoundKernel BindWeightOnlyGemm(const KernelCall& call, const InnerLoops& loops) {
  const auto [half, rows, columns, depth] = RequireGemm(call);
  const IntegerForm form{.bits = RequirePositive(call.attributes, "bits"),
                         .block = RequirePositive(call.attributes, "block")};
  const TensorType packed = PackedIntegersType(depth, columns, form);
  RequireType(call.inputs[1], packed, "the weights, input 1,");
  Require(rows <= kTileRows, "input 0 is " + ToString(call.inputs[0]) + ", which has more than " +
                                 std::to_string(kTileRows) + " rows");
  if (rows == 0) return NothingToRun();

  const std::shared_ptr<WeightOnlyGemm> gemm(
      new WeightOnlyGemm{.kernels = &loops.gemm,
                         .rows = rows,
                         .columns = columns,
                         .depth = depth,
                         .half = half,
                         .form = form,
                         .panel_bytes = packed.shape[1] * packed.shape[2],
                         .epilogue = EpilogueWithActivation(call.attributes),
                         .panels = MatrixBlocking(1, rows, packed.shape[0], depth, half).panels});
  gemm->epilogue.row_stride = columns;
  gemm->epilogue.half = half;
  const Ints block_sizes = CutIntoBlocks(call.attributes, {&gemm->panels});
  gemm->scratch_bytes = FloatScratchBytes(gemm->ScratchFloats());
  return {.run = [gemm](const KernelArguments& args) { gemm->Run(args); },
          .scratch_bytes = gemm->scratch_bytes,
          .block_sizes = block_sizes};
}

}  // namespace poprt::kernels
