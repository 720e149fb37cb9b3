#include "runtime/kernels/blocked/pack_blocked.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack_elements.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"

namespace poprt::kernels {
namespace {

TensorType CheckedType(TensorType type) {
  RequireStored(type.element);
  Require(CheckedElementCount(type.shape).has_value(),
          "packed weights of shape " + ToString(type.shape) + " are too large");
  return type;
}

void RequireGroups(std::int64_t out_channels, std::int64_t in_channels, std::int64_t group) {
  Require(group >= 1 && out_channels >= 1 && in_channels >= 1 && out_channels % group == 0 &&
              in_channels % group == 0,
          "output channels (" + std::to_string(out_channels) + ") and input channels (" +
              std::to_string(in_channels) + ") must be multiples of group (" +
              std::to_string(group) + "), all at least 1");
}

}  // namespace

TensorType BlockedImageType(std::int64_t batch, std::int64_t channels, std::int64_t height,
                            std::int64_t width, ElementType element) {
  return {element, {batch, BlocksOf(channels), height, width, kBlock}};
}

TensorType PackedBlockedConv2dType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, std::int64_t group, ElementType stored) {
  Require(taps >= 1, "a filter needs taps");
  RequireGroups(out_channels, in_channels, group);
  const std::int64_t outs = out_channels / group;
  const std::int64_t ins = in_channels / group;
  Require(group == 1 || (outs % kBlock == 0 && ins % kBlock == 0),
          "the " + std::to_string(ins) + " input and " + std::to_string(outs) +
              " output channels of a group must be multiples of 16");
  return CheckedType({stored, {group, BlocksOf(outs), BlocksOf(ins), taps, kBlock, kBlock}});
}

namespace {

/// The sizes of W that types of packed filters are made of.
struct FilterSizes {
  FilterSizes(const Tensor& w, std::int64_t group) {
    RequireWeights(w, 4);
    Require(group >= 1 && w.shape()[1] <= INT64_MAX / group, "the group is out of range");
    out_channels = w.shape()[0];
    in_channels = w.shape()[1] * group;
    taps = w.shape()[2] * w.shape()[3];
  }

  std::int64_t out_channels;
  std::int64_t in_channels;
  std::int64_t taps;
};

void PackFilters(const Tensor& w, const FilterSizes& sizes, Tensor& packed) {
  const std::int64_t ins = w.shape()[1];
  const std::int64_t taps = sizes.taps;
  // Only one group may have spare lanes, so that output channels count through all groups.
  const std::int64_t in_blocks = BlocksOf(ins);
  WithElements(w, packed, [=]<typename From, typename To>(const From* source, To* target) {
    PackColumns(sizes.out_channels, [=](std::int64_t o) {
      const From* from = source + o * ins * taps;
      To* const block = target + o / kBlock * in_blocks * taps * kBlock * kBlock + o % kBlock;
      for (std::int64_t i = 0; i < ins; ++i) {
        To* const row = block + (i / kBlock * taps * kBlock + i % kBlock) * kBlock;
        for (std::int64_t t = 0; t < taps; ++t) {
          row[t * kBlock * kBlock] = ConvertElement<To>(*from++);
        }
      }
    });
  });
}

}  // namespace

Tensor PackBlockedConv2dWeights(const Tensor& w, std::int64_t group, ElementType stored) {
  const FilterSizes sizes(w, group);
  Tensor packed(
      PackedBlockedConv2dType(sizes.out_channels, sizes.in_channels, sizes.taps, group, stored));
  PackFilters(w, sizes, packed);
  return packed;
}

TensorType BlockedConv2dPanelsType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, std::int64_t group) {
  const Shape& packed = PackedBlockedConv2dType(out_channels, in_channels, taps, group).shape;
  return {ElementType::kFloat32, {group, packed[1], packed[2] * packed[3] * kBlock, kBlock}};
}

std::optional<Tensor> PackScaledBlockedConv2dWeights(const Tensor& w, std::int64_t group) {
  const FilterSizes sizes(w, group);
  Tensor panels(BlockedConv2dPanelsType(sizes.out_channels, sizes.in_channels, sizes.taps, group));
  PackFilters(w, sizes, panels);
  return ScalePanels(panels);
}

TensorType PackedBlockedPlanesType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, ElementType stored) {
  const auto depth = CheckedElementCount({in_channels, taps});
  Require(out_channels >= 1 && depth.has_value() && *depth >= 1,
          "a filter needs input and output channels and taps");
  return CheckedType({stored, {BlocksOf(out_channels), *depth, kBlock}});
}

Tensor PackBlockedPlanesWeights(const Tensor& w, ElementType stored) {
  RequireWeights(w, 4);
  const std::int64_t taps = w.shape()[2] * w.shape()[3];
  Tensor packed(PackedBlockedPlanesType(w.shape()[0], w.shape()[1], taps, stored));
  const std::int64_t out_channels = w.shape()[0];
  const std::int64_t depth = w.shape()[1] * taps;
  WithElements(w, packed, [=]<typename From, typename To>(const From* source, To* target) {
    PackColumns(out_channels, [=](std::int64_t o) {
      const From* const from = source + o * depth;
      To* const column = target + o / kBlock * depth * kBlock + o % kBlock;
      for (std::int64_t k = 0; k < depth; ++k) column[k * kBlock] = ConvertElement<To>(from[k]);
    });
  });
  return packed;
}

std::vector<GroupPiece> GroupPiecesOf(std::int64_t out_channels, std::int64_t group) {
  const std::int64_t outs = out_channels / group;
  std::vector<GroupPiece> pieces;
  for (std::int64_t at = 0; at < out_channels;) {
    const std::int64_t block = at / kBlock;
    const std::int64_t end = std::min((at / outs + 1) * outs, (block + 1) * kBlock);
    pieces.push_back({.block = block,
                      .group = at / outs,
                      .first_lane = at - block * kBlock,
                      .last_lane = end - block * kBlock});
    at = end;
  }
  return pieces;
}

TensorType PackedBlockedPointwiseType(std::int64_t out_channels, std::int64_t in_channels,
                                      std::int64_t group, ElementType stored) {
  RequireGroups(out_channels, in_channels, group);
  // Every border of groups inside of a block cuts it; each `period`-th lies between blocks.
  const std::int64_t period = kBlock / std::gcd(out_channels / group, kBlock);
  const std::int64_t pieces = BlocksOf(out_channels) + (group - 1) - (group - 1) / period;
  return CheckedType({stored, {pieces, in_channels / group, kBlock}});
}

Tensor PackBlockedPointwiseWeights(const Tensor& w, std::int64_t group, ElementType stored) {
  RequireWeights(w, 4);
  const std::int64_t out_channels = w.shape()[0];
  const std::int64_t ins = w.shape()[1];
  Require(w.shape()[2] == 1 && w.shape()[3] == 1,
          "weights of type " + ToString(w.type()) + " are not those of a 1x1 filter");
  Require(group >= 1 && ins <= INT64_MAX / group, "the group is out of range");
  Tensor packed(PackedBlockedPointwiseType(out_channels, ins * group, group, stored));
  const std::vector<GroupPiece> pieces = GroupPiecesOf(out_channels, group);
  WithElements(w, packed, [&]<typename From, typename To>(const From* source, To* target) {
    for (const GroupPiece& piece : pieces) {
      const std::int64_t first = piece.block * kBlock;
      for (std::int64_t o = first + piece.first_lane; o < first + piece.last_lane; ++o) {
        for (std::int64_t i = 0; i < ins; ++i) {
          target[i * kBlock + o - first] = ConvertElement<To>(source[o * ins + i]);
        }
      }
      target += ins * kBlock;
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
  RequireWeights(w, 4);
  Require(w.shape()[1] == 1, "weights of type " + ToString(w.type()) + " are not depthwise");
  // A filter with one input channel each.
  return PackBlockedPlanesWeights(w, stored);
}

Tensor PackBlockedBias(const Tensor& bias) {
  RequireWeights(bias, 1);
  Tensor packed({ElementType::kFloat32, {BlocksOf(bias.count()) * kBlock}});
  const std::int64_t count = bias.count();
  WithElements(bias, packed, [count]<typename From, typename To>(const From* source, To* target) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = ConvertElement<To>(source[i]);
  });
  return packed;
}

}  // namespace poprt::kernels
