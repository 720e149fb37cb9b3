#include <algorithm>
#include <memory>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/normalization/lrn.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

struct BlockedLrn {
  BlockedImage in;
  std::int64_t channels;
  LrnParameters parameters;

  std::int64_t Lanes() const { return in.blocks * kBlock; }

  /// What a worker keeps of a pixel: its channels, their squares with zeros before and behind them,
  /// and the sums of these.
  struct Pixel {
    float* values;
    float* squares;
    float* sums;
  };
  std::int64_t Neighbours() const { return parameters.before + parameters.after; }
  std::int64_t PixelFloats() const { return 3 * Lanes() + Neighbours(); }
  Pixel PixelAt(float* memory) const { return {memory, memory + 2 * Lanes(), memory + Lanes()}; }

  /// `x` and `y` are a pixel of the first block. Loops run over all lanes, whose number compilers
  /// make vectors of.
  void RunPixel(const float* x, float* y, const Pixel& pixel) const {
    const std::int64_t stride = in.BlockFloats();
    const std::int64_t lanes = Lanes();
    float* const values = pixel.values;
    float* const sums = pixel.sums;
    for (std::int64_t block = 0; block < in.blocks; ++block) {
      CopyLanes(x + block * stride, kBlock, values + block * kBlock);
    }
    std::fill(values + channels, values + lanes, 0.0F);
    float* const own = pixel.squares + parameters.before;
    for (std::int64_t c = 0; c < lanes; ++c) own[c] = values[c] * values[c];
    for (std::int64_t c = 0; c < lanes; ++c) sums[c] = pixel.squares[c];
    for (std::int64_t i = 1; i <= Neighbours(); ++i) {
      const float* const squares = pixel.squares + i;
      for (std::int64_t c = 0; c < lanes; ++c) sums[c] += squares[c];
    }
    NormalizeBySums(parameters, sums, lanes, values);
    std::fill(values + channels, values + lanes, 0.0F);
    for (std::int64_t block = 0; block < in.blocks; ++block) {
      CopyLanes(values + block * kBlock, kBlock, y + block * stride);
    }
  }

  void Run(const KernelArguments& args) const {
    const std::size_t bytes = FloatScratchBytes(PixelFloats());
    ForWideRanges(args.pool, in.batch * in.Pixels(), GrainFor(4 * Lanes()),
                  [&args, bytes, lrn = *this](std::int64_t begin, std::int64_t end, int worker) {
                    const Pixel pixel = lrn.PixelAt(WorkerScratch(args, worker, bytes));
                    std::fill_n(pixel.squares, lrn.PixelFloats() - 2 * lrn.Lanes(), 0.0F);
                    for (std::int64_t i = begin; i < end; ++i) {
                      const std::int64_t image = i / lrn.in.Pixels();
                      const std::int64_t at = image * lrn.in.blocks * lrn.in.BlockFloats() +
                                              i % lrn.in.Pixels() * kBlock;
                      lrn.RunPixel(args.in<float>(0) + at, args.out<float>(0) + at, pixel);
                    }
                  });
  }
};

}  // namespace

BoundKernel BindBlockedLrn(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const std::int64_t channels = RequirePositive(call.attributes, "channels");
  const BlockedImage in = RequireBlockedImage(call.inputs[0], channels, "input 0");
  RequireType(call.outputs[0], call.inputs[0], "output 0");
  if (RequireCount(call.outputs[0].shape, "output 0") == 0) return NothingToRun();
  const auto lrn = std::make_shared<BlockedLrn>(
      BlockedLrn{.in = in, .channels = channels, .parameters = RequireLrn(call, channels)});
  return {.run = [lrn](const KernelArguments& args) { lrn->Run(args); },
          .scratch_bytes = FloatScratchBytes(lrn->PixelFloats())};
}

}  // namespace poprt::kernels
