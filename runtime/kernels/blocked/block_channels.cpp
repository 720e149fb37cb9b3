#include <algorithm>
#include <array>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/transpose_block.hpp"

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

BlockLayout LayoutOf(const Image& image, const TensorType& blocks) {
  RequireType(
      blocks,
      BlockedImageType(image.batch, image.channels, image.height, image.width, blocks.element),
      "the blocked image");
  const auto pixels = CheckedElementCount({image.height, image.width});
  Require(pixels.has_value(), "the image is too large");
  return {.batch = image.batch,
          .channels = image.channels,
          .blocks = BlocksOf(image.channels),
          .pixels = *pixels,
          .parts = EvenSplit(*pixels, kPixelsOfTask)};
}

// ---- Channels last ---------------------------------------------------------------------------

/// A change between pixels of `channels` floats each and blocks.
struct PixelLayout {
  BlockLayout layout;

  static constexpr std::int64_t kPixelsOfTile = 8;

  /// Calls f(offset in the pixels, offset in the blocks, channels) for every pixel of every block,
  /// few pixels at a time, so that both sides pass through whole cache lines.
  template <typename F>
  void Run(ThreadPool& pool, const F& f) const {
    const std::int64_t parts = layout.parts.blocks();
    pool.Run(layout.batch * parts, [&](std::int64_t task, int /*worker*/) {
      const std::int64_t image = task / parts;
      const std::int64_t end = layout.parts.end(task % parts);
      for (std::int64_t first = layout.parts.begin(task % parts); first < end;
           first += kPixelsOfTile) {
        RunTile(image, first, std::min(first + kPixelsOfTile, end), f);
      }
    });
  }

  template <typename F>
  void RunTile(std::int64_t image, std::int64_t first, std::int64_t last, const F& f) const {
    for (std::int64_t block = 0; block < layout.blocks; ++block) {
      const std::int64_t channel = block * kBlock;
      const std::int64_t count = std::min(kBlock, layout.channels - channel);
      for (std::int64_t pixel = first; pixel < last; ++pixel) {
        f((image * layout.pixels + pixel) * layout.channels + channel,
          ((image * layout.blocks + block) * layout.pixels + pixel) * kBlock, count);
      }
    }
  }
};

BoundKernel BlockPixels(const PixelLayout& layout) {
  return {.run = [layout](const KernelArguments& args) {
    layout.Run(*args.pool, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
      float* const lanes = args.out<float>(0) + to;
      CopyLanes(args.in<float>(0) + from, count, lanes);
      std::fill(lanes + count, lanes + kBlock, 0.0F);
    });
  }};
}

BoundKernel UnblockPixels(const PixelLayout& layout) {
  return {.run = [layout](const KernelArguments& args) {
    layout.Run(*args.pool, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      CopyLanes(args.in<float>(0) + from, count, args.out<float>(0) + to);
    });
  }};
}

// ---- Bytes -----------------------------------------------------------------------------------

/// Up to kBlock runs of as many bytes, `step` apart.
template <typename Byte>
struct ByteRuns {
  Byte* first;
  std::int64_t step;
  std::int64_t count;
  std::int64_t bytes;  ///< of each

  bool IsSquare() const { return count == kBlock && bytes == kBlock; }
};

/// Byte i of run k becomes byte k of run i, or 0 where there is none.
void TransposeRuns(const ByteRuns<const std::byte>& from, const ByteRuns<std::byte>& to) {
  if (from.IsSquare() && to.IsSquare()) {
    return TransposeSquare<ByteRow>(to.first, to.step, from.first, from.step);
  }
  std::array<std::byte, kBlock * kBlock> read{};
  std::array<std::byte, kBlock * kBlock> turned;
  for (std::int64_t i = 0; i < from.count; ++i) {
    std::copy_n(from.first + i * from.step, from.bytes, read.data() + i * kBlock);
  }
  TransposeSquare<ByteRow>(turned.data(), kBlock, read.data(), kBlock);
  for (std::int64_t i = 0; i < to.count; ++i) {
    std::copy_n(turned.data() + i * kBlock, to.bytes, to.first + i * to.step);
  }
}

BoundKernel BlockBytes(const BlockLayout& layout) {
  return {.run = [layout](const KernelArguments& args) {
    layout.Run(*args.pool,
               [&](std::int64_t from, std::int64_t to, std::int64_t channels, std::int64_t pixels) {
                 for (std::int64_t p = 0; p < pixels; p += kBlock) {
                   const std::int64_t count = std::min(kBlock, pixels - p);
                   TransposeRuns({args.inputs[0] + from + p, layout.pixels, channels, count},
                                 {args.outputs[0] + to + p * kBlock, kBlock, count, kBlock});
                 }
               });
  }};
}

BoundKernel UnblockBytes(const BlockLayout& layout) {
  return {.run = [layout](const KernelArguments& args) {
    layout.Run(*args.pool,
               [&](std::int64_t to, std::int64_t from, std::int64_t channels, std::int64_t pixels) {
                 for (std::int64_t p = 0; p < pixels; p += kBlock) {
                   const std::int64_t count = std::min(kBlock, pixels - p);
                   TransposeRuns({args.inputs[0] + from + p * kBlock, kBlock, count, kBlock},
                                 {args.outputs[0] + to + p, layout.pixels, channels, count});
                 }
               });
  }};
}

/// Blocks hold float32, or uint8 of planes of channels.
void RequireBlockable(const TensorType& type, bool channels_last) {
  const bool is_bytes = type.element == ElementType::kUint8 && !channels_last;
  Require(is_bytes || type.element == ElementType::kFloat32,
          "input 0 is " + ToString(type) + ", allowed are float32 and, of planes, uint8");
}

/// The image that an operand of either order of axes is.
Image ImageOf(const TensorType& type, bool channels_last) {
  const Image planes = RequireImage(type, channels_last ? "the image" : "the image of planes");
  if (!channels_last) return planes;
  const Shape& s = type.shape;
  return {.batch = s[0], .channels = s[3], .height = s[1], .width = s[2]};
}

}  // namespace

BoundKernel BindBlockChannels(const KernelCall& call, const ConvMicroKernels& kernels) {
  RequireArity(call, 1, 1);
  const bool channels_last = FlagAttribute(call, "channels_last", false);
  const ElementType element = call.inputs[0].element;
  RequireBlockable(call.inputs[0], channels_last);
  RequireElement(call.outputs[0], Types({element}), "output 0");
  const BlockLayout layout = LayoutOf(ImageOf(call.inputs[0], channels_last), call.outputs[0]);
  if (element == ElementType::kUint8) return BlockBytes(layout);
  if (channels_last) return BlockPixels({layout});
  return {.run = [layout, block = kernels.block](const KernelArguments& args) {
    layout.Run(*args.pool, [&](std::int64_t from, std::int64_t to, std::int64_t channels,
                               std::int64_t pixels) {
      block(args.in<float>(0) + from, layout.pixels, channels, pixels, args.out<float>(0) + to);
    });
  }};
}

BoundKernel BindUnblockChannels(const KernelCall& call, const ConvMicroKernels& kernels) {
  RequireArity(call, 1, 1);
  const std::int64_t channels = RequirePositive(call.attributes, "channels");
  const bool channels_last = FlagAttribute(call, "channels_last", false);
  const ElementType element = call.inputs[0].element;
  RequireBlockable(call.inputs[0], channels_last);
  const BlockedImage in = RequireBlockedImage(call.inputs[0], channels, "input 0", element);
  RequireType(call.outputs[0],
              {element, channels_last ? Shape{in.batch, in.height, in.width, channels}
                                      : Shape{in.batch, channels, in.height, in.width}},
              "output 0");
  const BlockLayout layout = LayoutOf(ImageOf(call.outputs[0], channels_last), call.inputs[0]);
  if (element == ElementType::kUint8) return UnblockBytes(layout);
  if (channels_last) return UnblockPixels({layout});
  return {.run = [layout, unblock = kernels.unblock](const KernelArguments& args) {
    layout.Run(*args.pool, [&](std::int64_t to, std::int64_t from, std::int64_t count,
                               std::int64_t pixels) {
      unblock(args.in<float>(0) + from, layout.pixels, count, pixels, args.out<float>(0) + to);
    });
  }};
}

}  // namespace poprt::kernels
