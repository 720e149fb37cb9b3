#include "runtime/kernels/packed/thin_conv2d.hpp"

#include <algorithm>
#include <memory>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/gemv_kernels.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/transpose_block.hpp"

namespace poprt::kernels {
namespace {

struct ThinConv2d {
  const GemvKernels* products;
  const GemmMicroKernels* kernels;
  ThinConv2dSizes sizes;
  Epilogue epilogue;
  std::int64_t columns;  ///< pixels of a task
  std::size_t scratch_bytes = 0;

  std::int64_t TasksOfGroup() const { return (sizes.pixels - 1) / columns + 1; }

  /// Some pixels of all output channels of a group.
  void RunTask(const KernelArguments& args, const Epilogue& finish, std::int64_t index,
               float* scratch) const {
    const std::int64_t image_group = index / TasksOfGroup();
    const std::int64_t in_group = image_group % sizes.group;
    const std::int64_t first = index % TasksOfGroup() * columns;
    const std::int64_t count = std::min(columns, sizes.pixels - first);
    float* const results = scratch;
    float* const weights = scratch + sizes.outs * columns;
    // The packed weights are one tile: [channels][outs].
    TransposeBlock(args.in<float>(1) + in_group * sizes.outs * sizes.channels, sizes.outs,
                   sizes.channels, sizes.outs, weights, sizes.channels);
    products->by_rows(sizes.outs, weights,
                      args.in<float>(0) + image_group * sizes.channels * sizes.pixels + first,
                      sizes.pixels, sizes.channels, count, results);
    // The epilogue's rows are output channels; images and groups follow each other.
    Epilogue rows = finish;
    if (rows.row_bias != nullptr) rows.row_bias += (in_group - image_group) * sizes.outs;
    kernels->finish(rows, results, count, sizes.outs, count, image_group * sizes.outs, first);
  }

  void Run(const KernelArguments& args) const {
    Epilogue finish = epilogue;
    finish.row_bias = args.inputs.size() > 2 ? args.in<float>(2) : nullptr;
    finish.residual = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
    finish.out = args.outputs[0];
    ForRanges(args.pool, sizes.batch * sizes.group * TasksOfGroup(),
              GrainFor(columns * sizes.channels * sizes.outs),
              [&](std::int64_t begin, std::int64_t end, int worker) {
                for (std::int64_t i = begin; i < end; ++i) {
                  RunTask(args, finish, i, WorkerScratch(args, worker, scratch_bytes));
                }
              });
  }
};

}  // namespace

BoundKernel BindThinConv2d(const KernelCall& call, const ThinConv2dSizes& sizes,
                           const InnerLoops& loops) {
  const Ints columns =
      BlockSizes(call.attributes, {ThinColumns(ThinOrder::kByRows, sizes.channels, sizes.pixels)});
  const auto conv =
      std::make_shared<ThinConv2d>(ThinConv2d{.products = &loops.gemv,
                                              .kernels = &loops.gemm,
                                              .sizes = sizes,
                                              .epilogue = EpilogueWithActivation(call.attributes),
                                              .columns = std::min(sizes.pixels, columns[0])});
  conv->epilogue.row_stride = sizes.pixels;
  conv->scratch_bytes = FloatScratchBytes(sizes.outs * (conv->columns + sizes.channels));
  return {.run = [conv](const KernelArguments& args) { conv->Run(args); },
          .scratch_bytes = conv->scratch_bytes,
          .block_sizes = {conv->columns}};
}

}  // namespace poprt::kernels
