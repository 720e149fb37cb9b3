#include "runtime/kernels/blocked/pack_blocked.hpp"

#include <string>
#include <type_traits>

#include "runtime/kernels/blocked/blocked_tiles.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

void RequireStored(ElementType stored) {
  Require(stored == ElementType::kFloat32 || stored == ElementType::kFloat16,
          "weights of type " + std::string(ElementName(stored)) +
              " cannot be packed, allowed are float32 and float16");
}

void RequireOperand(const Tensor& tensor, std::size_t rank) {
  RequireStored(tensor.element());
  Require(tensor.shape().size() == rank && tensor.count() > 0,
          "weights of type " + ToString(tensor.type()) + " cannot be packed, expected is rank " +
              std::to_string(rank) + " without a zero extent");
}

TensorType CheckedType(TensorType type) {
  RequireStored(type.element);
  Require(CheckedElementCount(type.shape).has_value(),
          "packed weights of shape " + ToString(type.shape) + " are too large");
  return type;
}

template <typename To, typename From>
To Convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    return To(static_cast<float>(value));
  }
}

/// Calls pack(const From*, To*) with the element types of both tensors.
template <typename Pack>
void WithElements(const Tensor& from, Tensor& to, Pack pack) {
  const auto with_source = [&](const auto* source) {
    if (to.element() == ElementType::kFloat32) {
      pack(source, to.as_mutable<float>().data());
    } else {
      pack(source, to.as_mutable<Float16>().data());
    }
  };
  if (from.element() == ElementType::kFloat32) {
    with_source(from.as<float>().data());
  } else {
    with_source(from.as<Float16>().data());
  }
}

}  // namespace

TensorType BlockedImageType(std::int64_t batch, std::int64_t channels, std::int64_t height,
                            std::int64_t width) {
  return {ElementType::kFloat32, {batch, BlocksOf(channels), height, width, kBlock}};
}

TensorType PackedBlockedConv2dType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, std::int64_t group, ElementType stored) {
  Require(group >= 1 && taps >= 1 && out_channels >= 1 && in_channels >= 1 &&
              out_channels % group == 0 && in_channels % group == 0,
          "output channels (" + std::to_string(out_channels) + ") and input channels (" +
              std::to_string(in_channels) + ") must be multiples of group (" +
              std::to_string(group) + "), all at least 1");
  const std::int64_t outs = out_channels / group;
  const std::int64_t ins = in_channels / group;
  Require(group == 1 || (outs % kBlock == 0 && ins % kBlock == 0),
          "the " + std::to_string(ins) + " input and " + std::to_string(outs) +
              " output channels of a group must be multiples of 16");
  return CheckedType({stored, {group, BlocksOf(outs), BlocksOf(ins), taps, kBlock, kBlock}});
}

Tensor PackBlockedConv2dWeights(const Tensor& w, std::int64_t group, ElementType stored) {
  RequireOperand(w, 4);
  Require(group >= 1 && w.shape()[1] <= INT64_MAX / group, "the group is out of range");
  const std::int64_t out_channels = w.shape()[0];
  const std::int64_t ins = w.shape()[1];
  const std::int64_t taps = w.shape()[2] * w.shape()[3];
  Tensor packed(PackedBlockedConv2dType(out_channels, ins * group, taps, group, stored));
  // Only one group may have spare lanes, so that output channels count through all groups.
  const std::int64_t in_blocks = BlocksOf(ins);
  WithElements(w, packed, [=]<typename From, typename To>(const From* source, To* target) {
    for (std::int64_t o = 0; o < out_channels; ++o) {
      To* const block = target + o / kBlock * in_blocks * taps * kBlock * kBlock + o % kBlock;
      for (std::int64_t i = 0; i < ins; ++i) {
        To* const row = block + (i / kBlock * taps * kBlock + i % kBlock) * kBlock;
        for (std::int64_t t = 0; t < taps; ++t) {
          row[t * kBlock * kBlock] = Convert<To>(*source++);
        }
      }
    }
  });
  return packed;
}

TensorType PackedBlockedPlanesType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, ElementType stored) {
  const auto depth = CheckedElementCount({in_channels, taps});
  Require(out_channels >= 1 && depth.has_value() && *depth >= 1,
          "a filter needs input and output channels and taps");
  return CheckedType({stored, {BlocksOf(out_channels), *depth, kBlock}});
}

Tensor PackBlockedPlanesWeights(const Tensor& w, ElementType stored) {
  RequireOperand(w, 4);
  const std::int64_t taps = w.shape()[2] * w.shape()[3];
  Tensor packed(PackedBlockedPlanesType(w.shape()[0], w.shape()[1], taps, stored));
  const std::int64_t out_channels = w.shape()[0];
  const std::int64_t depth = w.shape()[1] * taps;
  WithElements(w, packed, [=]<typename From, typename To>(const From* source, To* target) {
    for (std::int64_t o = 0; o < out_channels; ++o) {
      To* const column = target + o / kBlock * depth * kBlock + o % kBlock;
      for (std::int64_t k = 0; k < depth; ++k) column[k * kBlock] = Convert<To>(*source++);
    }
  });
  return packed;
}

TensorType PackedBlockedDepthwiseType(std::int64_t channels, std::int64_t taps,
                                      ElementType stored) {
  Require(channels >= 1 && taps >= 1, "a depthwise filter needs channels and taps");
  return CheckedType({stored, {BlocksOf(channels), taps, kBlock}});
}

Tensor PackBlockedDepthwiseWeights(const Tensor& w, ElementType stored) {
  RequireOperand(w, 4);
  Require(w.shape()[1] == 1, "weights of type " + ToString(w.type()) + " are not depthwise");
  // A filter with one input channel each.
  return PackBlockedPlanesWeights(w, stored);
}

Tensor PackBlockedBias(const Tensor& bias) {
  RequireOperand(bias, 1);
  Tensor packed({ElementType::kFloat32, {BlocksOf(bias.count()) * kBlock}});
  const std::int64_t count = bias.count();
  WithElements(bias, packed, [count]<typename From, typename To>(const From* source, To* target) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = Convert<To>(source[i]);
  });
  return packed;
}

}  // namespace poprt::kernels
