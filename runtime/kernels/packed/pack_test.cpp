#include "runtime/kernels/packed/pack.hpp"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// 0, 1, 2, ...
Tensor Counting(Shape shape) {
  Tensor tensor({ElementType::kFloat32, std::move(shape)});
  const auto values = tensor.as_mutable<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

TEST(PackGemmWeights, WritesPanelsOfSixteenColumns) {
  const Tensor packed = PackGemmWeights(Counting({2, 18}), false, ElementType::kFloat32);
  EXPECT_EQ(packed.type(), PackedGemmType(2, 18, ElementType::kFloat32));
  EXPECT_EQ(packed.shape(), (Shape{2, 2, 16}));
  const auto values = packed.as<float>();
  EXPECT_EQ(values[0], 0.0F);
  EXPECT_EQ(values[15], 15.0F);
  EXPECT_EQ(values[16], 18.0F);
  EXPECT_THAT(values.subspan(32, 3), ElementsAre(16, 17, 0));
  EXPECT_THAT(values.subspan(48, 3), ElementsAre(34, 35, 0));
  EXPECT_THAT(values.subspan(50), Each(0.0F));
}

TEST(PackGemmWeights, TransposedAndHalfHoldTheSameValues) {
  const Tensor packed = PackGemmWeights(Counting({3, 2}), true, ElementType::kFloat16);
  EXPECT_EQ(packed.type(), (TensorType{ElementType::kFloat16, {1, 2, 16}}));
  std::vector<float> values;
  for (const Float16 x : packed.as<Float16>()) values.push_back(static_cast<float>(x));
  std::vector<float> expected(32);
  expected[0] = 0;
  expected[1] = 2;
  expected[2] = 4;
  expected[16] = 1;
  expected[17] = 3;
  expected[18] = 5;
  EXPECT_EQ(values, expected);
}

TEST(PackConv2dWeights, OrdersByTileThenTapThenChannelThenRow) {
  // Eight channels are two tiles of four.
  const Tensor packed = PackConv2dWeights(Counting({8, 2, 1, 3}), 1, ElementType::kFloat32);
  EXPECT_EQ(packed.type(), PackedConv2dType(8, 6, 1, ElementType::kFloat32));
  EXPECT_EQ(packed.shape(), (Shape{1, 8, 6}));
  const auto values = packed.as<float>();
  EXPECT_THAT(values.subspan(0, 12), ElementsAre(0, 6, 12, 18, 3, 9, 15, 21, 1, 7, 13, 19));
  EXPECT_THAT(values.subspan(24, 4), ElementsAre(24, 30, 36, 42));
}

TEST(PackConv2dWeights, KeepsGroupsApart) {
  const Tensor packed = PackConv2dWeights(Counting({4, 2, 1, 1}), 2, ElementType::kFloat32);
  EXPECT_EQ(packed.shape(), (Shape{2, 2, 2}));
  EXPECT_THAT(packed.as<float>(), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

TEST(PackDepthwiseWeights, IsRowMajor) {
  const Tensor packed = PackDepthwiseWeights(Counting({3, 1, 2, 2}), ElementType::kFloat32);
  EXPECT_EQ(packed.type(), PackedDepthwiseType(3, 4, ElementType::kFloat32));
  EXPECT_THAT(packed.as<float>(), ElementsAreArray(Counting({12}).as<float>()));
}

TEST(Pack, RejectsOtherTypesAndShapes) {
  EXPECT_THROW(PackGemmWeights(Counting({2, 3, 4}), false, ElementType::kFloat32), KernelError);
  EXPECT_THROW(PackGemmWeights(Counting({2, 3}), false, ElementType::kUint8), KernelError);
  EXPECT_THROW(PackGemmWeights(Tensor({ElementType::kInt32, {2, 3}}), false, ElementType::kFloat32),
               KernelError);
  EXPECT_THROW(PackConv2dWeights(Counting({3, 2, 1, 1}), 2, ElementType::kFloat32), KernelError);
  EXPECT_THROW(PackDepthwiseWeights(Counting({3, 2, 1, 1}), ElementType::kFloat32), KernelError);
  EXPECT_THROW(PackedGemmType(0, 4, ElementType::kFloat32), KernelError);
}

}  // namespace
}  // namespace poprt::kernels
