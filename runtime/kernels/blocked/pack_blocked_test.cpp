#include "runtime/kernels/blocked/pack_blocked.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

using ::testing::Each;

/// 0, 1, 2, ...
Tensor Counting(Shape shape) {
  Tensor tensor({ElementType::kFloat32, std::move(shape)});
  const auto values = tensor.as_mutable<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

TEST(BlockedImageType, HasBlocksOfSixteenChannels) {
  EXPECT_EQ(BlockedImageType(2, 17, 3, 4), (TensorType{ElementType::kFloat32, {2, 2, 3, 4, 16}}));
  EXPECT_EQ(BlockedImageType(2, 16, 3, 4).shape[1], 1);
}

TEST(PackBlockedConv2dWeights, OrdersByBlocksThenTapThenInputThenOutput) {
  const Tensor packed = PackBlockedConv2dWeights(Counting({18, 17, 1, 3}), 1);
  EXPECT_EQ(packed.type(), PackedBlockedConv2dType(18, 17, 3, 1));
  EXPECT_EQ(packed.shape(), (Shape{1, 2, 2, 3, 16, 16}));
  const auto at = [&](std::int64_t o, std::int64_t i, std::int64_t tap) {
    const std::int64_t index = ((((o / 16) * 2 + i / 16) * 3 + tap) * 16 + i % 16) * 16 + o % 16;
    return packed.as<float>()[static_cast<std::size_t>(index)];
  };
  EXPECT_EQ(at(0, 0, 2), 2.0F);
  EXPECT_EQ(at(0, 16, 1), 49.0F);
  EXPECT_EQ(at(17, 5, 0), 17 * 51 + 15.0F);
  EXPECT_EQ(at(18, 5, 0), 0.0F);
  EXPECT_EQ(at(1, 17, 0), 0.0F);
}

TEST(PackBlockedConv2dWeights, GroupsFollowEachOther) {
  const Tensor packed = PackBlockedConv2dWeights(Counting({32, 16, 1, 1}), 2);
  EXPECT_EQ(packed.shape(), (Shape{2, 1, 1, 1, 16, 16}));
  EXPECT_EQ(packed.as<float>()[256 + 3 * 16 + 2], 18 * 16 + 3.0F);
}

TEST(PackBlockedPlanesWeights, OrdersByBlockThenDepthThenOutput) {
  const Tensor packed = PackBlockedPlanesWeights(Counting({17, 2, 1, 3}), ElementType::kFloat16);
  EXPECT_EQ(packed.type(), PackedBlockedPlanesType(17, 2, 3, ElementType::kFloat16));
  EXPECT_EQ(packed.shape(), (Shape{2, 6, 16}));
  const auto values = packed.as<Float16>();
  EXPECT_EQ(static_cast<float>(values[5 * 16 + 4]), 4 * 6 + 5.0F);
  EXPECT_EQ(static_cast<float>(values[(6 + 1) * 16]), 16 * 6 + 1.0F);
  EXPECT_EQ(static_cast<float>(values[(6 + 1) * 16 + 1]), 0.0F);
}

TEST(PackBlockedPointwiseWeights, CutsGroupsAtBlocks) {
  // Blocks of 16 channels in groups of 12: 0 | 0 1 | 1 2 | 2.
  const Tensor packed = PackBlockedPointwiseWeights(Counting({36, 2, 1, 1}), 3);
  EXPECT_EQ(packed.type(), PackedBlockedPointwiseType(36, 6, 3));
  ASSERT_EQ(packed.shape(), (Shape{5, 2, 16}));
  const auto at = [&](std::int64_t piece, std::int64_t in, std::int64_t lane) {
    return packed.as<float>()[static_cast<std::size_t>((piece * 2 + in) * 16 + lane)];
  };
  EXPECT_EQ(at(0, 1, 11), 11 * 2 + 1.0F);
  EXPECT_EQ(at(0, 1, 12), 0.0F);
  EXPECT_EQ(at(1, 0, 11), 0.0F);
  EXPECT_EQ(at(1, 0, 12), 12 * 2.0F);
  EXPECT_EQ(at(2, 1, 7), 23 * 2 + 1.0F);
  EXPECT_EQ(at(3, 0, 8), 24 * 2.0F);
  EXPECT_EQ(at(4, 0, 3), 35 * 2.0F);
  EXPECT_EQ(at(4, 0, 4), 0.0F);
}

TEST(GroupPiecesOf, CountsAsTheTypeOfWeights) {
  for (const auto& [outs, group] : {std::pair{5, 7}, {16, 3}, {34, 4}, {8, 6}, {1, 1}, {24, 5}}) {
    const std::vector<GroupPiece> pieces = GroupPiecesOf(std::int64_t{outs} * group, group);
    EXPECT_EQ(PackedBlockedPointwiseType(std::int64_t{outs} * group, group, group).shape[0],
              static_cast<std::int64_t>(pieces.size()));
    EXPECT_EQ(pieces.front().first_lane, 0);
    EXPECT_EQ(pieces.back().last_lane, (std::int64_t{outs} * group - 1) % 16 + 1);
    EXPECT_EQ(pieces.back().group, group - 1);
  }
}

TEST(PackBlockedDepthwiseWeights, OrdersByBlockThenTapThenChannel) {
  const Tensor packed = PackBlockedDepthwiseWeights(Counting({17, 1, 2, 2}));
  EXPECT_EQ(packed.type(), PackedBlockedDepthwiseType(17, 4));
  EXPECT_EQ(packed.shape(), (Shape{2, 4, 16}));
  EXPECT_EQ(packed.as<float>()[3 * 16 + 2], 11.0F);
  EXPECT_EQ(packed.as<float>()[4 * 16], 64.0F);
}

TEST(PackBlockedBias, FillsTheLastBlockWithZeros) {
  const Tensor packed = PackBlockedBias(Counting({18}));
  EXPECT_EQ(packed.type(), (TensorType{ElementType::kFloat32, {32}}));
  EXPECT_EQ(packed.as<float>()[17], 17.0F);
  EXPECT_THAT(packed.as<float>().subspan(18), Each(0.0F));
}

TEST(PackBlocked, RejectsOtherTypesShapesAndGroups) {
  EXPECT_THROW(PackBlockedConv2dWeights(Counting({2, 3, 4}), 1), KernelError);
  EXPECT_THROW(PackBlockedConv2dWeights(Counting({32, 8, 1, 1}), 2), KernelError);
  EXPECT_THROW(PackBlockedConv2dWeights(Counting({16, 16, 1, 1}), 0), KernelError);
  EXPECT_THROW(PackBlockedConv2dWeights(Counting({16, 16, 1, 1}), INT64_MAX), KernelError);
  EXPECT_THROW(PackBlockedConv2dWeights(Counting({2, 3, 1, 1}), 1, ElementType::kInt8),
               KernelError);
  EXPECT_THROW(PackBlockedPointwiseWeights(Counting({16, 16, 1, 3}), 2), KernelError);
  EXPECT_THROW(PackBlockedPointwiseWeights(Counting({16, 16, 1, 1}), 3), KernelError);
  EXPECT_THROW(PackBlockedPointwiseWeights(Counting({16, 16, 1, 1}), INT64_MAX), KernelError);
  EXPECT_THROW(PackBlockedPlanesWeights(Tensor({ElementType::kInt32, {2, 3, 1, 1}})), KernelError);
  EXPECT_THROW(PackBlockedDepthwiseWeights(Counting({3, 2, 1, 1})), KernelError);
  EXPECT_THROW(PackBlockedBias(Counting({3, 1})), KernelError);
  EXPECT_THROW(PackedBlockedPlanesType(1, INT64_MAX, 2), KernelError);
  EXPECT_THROW(PackedBlockedConv2dType(INT64_MAX, INT64_MAX, 9, 1), KernelError);
}

}  // namespace
}  // namespace poprt::kernels
