#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::kernels {

/// Input 0 of a convolution of bytes, in blocks of channels.
inline BlockedImage RequireByteImage(const KernelCall& call, std::int64_t channels) {
  return RequireBlockedImage(call.inputs[0], channels, "input 0", ElementType::kUint8);
}

/// What all convolutions of bytes share, see byte_conv2d.hpp.
struct ByteConv {
  /// Checks all of `call` but the image, of which `image` has the extents, and the weights.
  ByteConv(const KernelCall& call, const BlockedImage& image, std::int64_t out_channels)
      : in(image),
        kernel(RequireKernelShape(call.attributes)),
        window(ResolveWindow(call.attributes, {in.height, in.width}, kernel)),
        x_point(ByteAttribute(call, "x_point")),
        y_point(ByteAttribute(call, "y_point")) {
    constexpr std::int64_t kMostTaps = std::int64_t{1} << 22;
    const auto taps = CheckedElementCount(kernel);
    Require(taps.has_value() && *taps <= kMostTaps, "the filter has more than 2^22 taps");
    const Shape extents = WindowOutputExtents(window, {in.height, in.width}, false);
    out = {in.batch, BlocksOf(out_channels), extents[0], extents[1]};
    RequireType(
        call.outputs[0],
        BlockedImageType(in.batch, out_channels, out.height, out.width, ElementType::kUint8),
        "output 0");
    const Shape lanes{out.blocks * kBlock};
    RequireType(call.inputs[2], {ElementType::kInt32, lanes}, "the bases, input 2,");
    RequireType(call.inputs[3], {ElementType::kFloat32, lanes}, "the factors, input 3,");
    RequireSmallOffsets(window, in.height, in.width);
  }

  std::int64_t taps() const { return kernel[0] * kernel[1]; }

  ByteEpilogue EpilogueOf(const KernelArguments& args, std::int64_t block) const {
    return {.bases = args.in<std::int32_t>(2) + block * kBlock,
            .factors = args.in<float>(3) + block * kBlock,
            .point = y_point};
  }

  BlockedImage in;
  BlockedImage out{};
  Ints kernel;
  Window window;
  std::uint8_t x_point;
  std::uint8_t y_point;
};

}  // namespace poprt::kernels
