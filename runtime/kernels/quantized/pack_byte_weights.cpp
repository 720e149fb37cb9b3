#include "runtime/kernels/quantized/pack_byte_weights.hpp"

#include <algorithm>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kQuad = 4;

TensorType CheckedType(Shape shape) {
  Require(std::ranges::all_of(shape, [](std::int64_t extent) { return extent >= 1; }) &&
              CheckedElementCount(shape).has_value(),
          "packed weights of shape " + ToString(shape) + " are empty or too large");
  return {ElementType::kInt8, std::move(shape)};
}

void RequireByteWeights(const Tensor& w) {
  Require(w.element() == ElementType::kInt8 && w.shape().size() == 4 && w.count() > 0,
          "the weights are " + ToString(w.type()) + ", expected are int8 of four axes");
}

}  // namespace

TensorType PackedByteConvType(std::int64_t out_channels, std::int64_t in_channels,
                              std::int64_t taps) {
  return CheckedType(
      {BlocksOf(out_channels), BlocksOf(in_channels), taps, kBlock / kQuad, kBlock, kQuad});
}

Tensor PackByteConvWeights(const Tensor& w) {
  RequireByteWeights(w);
  const std::int64_t ins = w.shape()[1];
  const std::int64_t taps = w.shape()[2] * w.shape()[3];
  Tensor packed(PackedByteConvType(w.shape()[0], ins, taps));
  const auto* from = reinterpret_cast<const std::int8_t*>(w.data());
  auto* const to = reinterpret_cast<std::int8_t*>(packed.mutable_data());
  for (std::int64_t o = 0; o < w.shape()[0]; ++o) {
    for (std::int64_t i = 0; i < ins; ++i) {
      const std::int64_t block = o / kBlock * BlocksOf(ins) + i / kBlock;
      std::int8_t* const quad = to + block * taps * kBlock * kBlock +
                                i % kBlock / kQuad * kBlock * kQuad + o % kBlock * kQuad;
      for (std::int64_t t = 0; t < taps; ++t) quad[t * kBlock * kBlock + i % kQuad] = *from++;
    }
  }
  return packed;
}

TensorType PackedBytePlanesType(std::int64_t out_channels, std::int64_t taps) {
  return CheckedType({BlocksOf(out_channels), taps, kBlock, kQuad});
}

Tensor PackBytePlanesWeights(const Tensor& w) {
  RequireByteWeights(w);
  const std::int64_t ins = w.shape()[1];
  Require(ins <= kMostBytePlanes,
          "the weights are " + ToString(w.type()) + ", of more than four channels");
  const std::int64_t taps = w.shape()[2] * w.shape()[3];
  Tensor packed(PackedBytePlanesType(w.shape()[0], taps));
  const auto* from = reinterpret_cast<const std::int8_t*>(w.data());
  auto* const to = reinterpret_cast<std::int8_t*>(packed.mutable_data());
  for (std::int64_t o = 0; o < w.shape()[0]; ++o) {
    std::int8_t* const quad = to + o / kBlock * taps * kBlock * kQuad + o % kBlock * kQuad;
    for (std::int64_t i = 0; i < ins; ++i) {
      for (std::int64_t t = 0; t < taps; ++t) quad[t * kBlock * kQuad + i] = *from++;
    }
  }
  return packed;
}

TensorType PackedByteDepthwiseType(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  return CheckedType({BlocksOf(channels), rows, (columns + kQuad - 1) / kQuad, kBlock, kQuad});
}

Tensor PackByteDepthwiseWeights(const Tensor& w) {
  RequireByteWeights(w);
  Require(w.shape()[1] == 1, "the weights are " + ToString(w.type()) + ", not of single channels");
  const std::int64_t rows = w.shape()[2];
  const std::int64_t columns = w.shape()[3];
  Tensor packed(PackedByteDepthwiseType(w.shape()[0], rows, columns));
  const std::int64_t segments = packed.shape()[2];
  const auto* from = reinterpret_cast<const std::int8_t*>(w.data());
  auto* const to = reinterpret_cast<std::int8_t*>(packed.mutable_data());
  for (std::int64_t c = 0; c < w.shape()[0]; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < columns; ++k) {
        const std::int64_t segment = (c / kBlock * rows + r) * segments + k / kQuad;
        to[(segment * kBlock + c % kBlock) * kQuad + k % kQuad] = *from++;
      }
    }
  }
  return packed;
}

}  // namespace poprt::kernels
