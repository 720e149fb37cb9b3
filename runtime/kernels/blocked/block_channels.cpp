#include <algorithm>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kPixelsOfTask = 1024;

/// A change between planes of channels and blocks.
struct BlockLayout {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t blocks;
  std::int64_t pixels;
  EvenSplit parts;  ///< of the pixels

  /// Calls f(offset in the planes, offset in the blocks, channels, pixels) for every part of every
  /// block.
  template <typename F>
  void Run(ThreadPool& pool, const F& f) const {
    pool.Run(batch * blocks * parts.blocks(), [&](std::int64_t task, int /*worker*/) {
      const std::int64_t part = task % parts.blocks();
      const std::int64_t image = task / parts.blocks() / blocks;
      const std::int64_t block = task / parts.blocks() % blocks;
      const std::int64_t first = parts.begin(part);
      const std::int64_t channel = block * kBlock;
      f((image * channels + channel) * pixels + first,
        ((image * blocks + block) * pixels + first) * kBlock, std::min(kBlock, channels - channel),
        parts.end(part) - first);
    });
  }
};

BlockLayout LayoutOf(const TensorType& planes, const TensorType& blocks) {
  const Image image = RequireImage(planes, "the image of planes");
  RequireType(blocks, BlockedImageType(image.batch, image.channels, image.height, image.width),
              "the blocked image");
  const auto pixels = CheckedElementCount({image.height, image.width});
  Require(pixels.has_value(), "the image is too large");
  return {.batch = image.batch,
          .channels = image.channels,
          .blocks = BlocksOf(image.channels),
          .pixels = *pixels,
          .parts = EvenSplit(*pixels, kPixelsOfTask)};
}

}  // namespace

BoundKernel BindBlockChannels(const KernelCall& call, const BlockedTiles& tiles) {
  RequireArity(call, 1, 1);
  Require(call.inputs[0].element == ElementType::kFloat32,
          "input 0 is " + ToString(call.inputs[0]) + ", allowed is float32");
  const BlockLayout layout = LayoutOf(call.inputs[0], call.outputs[0]);
  return {.run = [layout, block = tiles.block](const KernelArguments& args) {
    layout.Run(*args.pool, [&](std::int64_t from, std::int64_t to, std::int64_t channels,
                               std::int64_t pixels) {
      block(args.in<float>(0) + from, layout.pixels, channels, pixels, args.out<float>(0) + to);
    });
  }};
}

BoundKernel BindUnblockChannels(const KernelCall& call, const BlockedTiles& tiles) {
  RequireArity(call, 1, 1);
  const std::int64_t channels = RequirePositive(call.attributes, "channels");
  const BlockedImage in = RequireBlockedImage(call.inputs[0], channels, "input 0");
  RequireType(call.outputs[0], {ElementType::kFloat32, {in.batch, channels, in.height, in.width}},
              "output 0");
  const BlockLayout layout = LayoutOf(call.outputs[0], call.inputs[0]);
  return {.run = [layout, unblock = tiles.unblock](const KernelArguments& args) {
    layout.Run(*args.pool, [&](std::int64_t to, std::int64_t from, std::int64_t count,
                               std::int64_t pixels) {
      unblock(args.in<float>(0) + from, layout.pixels, count, pixels, args.out<float>(0) + to);
    });
  }};
}

}  // namespace poprt::kernels
