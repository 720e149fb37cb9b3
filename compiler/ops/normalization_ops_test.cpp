#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

constexpr std::int64_t kOne = 1;

TEST(NormalizationOpsTest, AlongAnAxis) {
  EXPECT_EQ(InferText("Softmax", {F16({2, 3})}), "float16[2, 3]");
  EXPECT_EQ(InferText("Hardmax", {F32({2, 3})}, {{"axis", std::int64_t{2}}}),
            "attribute 'axis' names axis 2 of a tensor of rank 2");
  EXPECT_EQ(InferText("LpNormalization", {F32({2})}, {{"p", kOne}}), "float32[2]");
  EXPECT_EQ(InferText("LpNormalization", {F32({2})}, {{"p", std::int64_t{3}}}),
            "attribute 'p' is 3, allowed are 1 and 2");
}

TEST(NormalizationOpsTest, LayerNormalization) {
  const TensorType x = F16({2, 3, 4});
  EXPECT_EQ(InferText("LayerNormalization", {x, F16({4}), F16({4})}), "float16[2, 3, 4]");
  EXPECT_EQ(InferText("LayerNormalization", {x, F16({3, 4})}, {{"axis", kOne}}, 3),
            "float16[2, 3, 4]; float32[2, 1, 1]; float32[2, 1, 1]");
  EXPECT_EQ(InferText("LayerNormalization", {x, F16({3})}),
            "input 1 is float16[3], which does not broadcast to [2, 3, 4]");
  EXPECT_EQ(InferText("LayerNormalization", {x, F32({4})}),
            "input 1 is float32[4], its elements must be float16");
  EXPECT_EQ(InferText("LayerNormalization", {x, F16({4})}, {{"stash_type", std::int64_t{6}}}),
            "attribute 'stash_type' is 6, allowed is 1 (float32)");
  EXPECT_EQ(InferText("RMSNormalization", {x, F32({4})}), "float32[2, 3, 4]");
}

TEST(NormalizationOpsTest, PerChannel) {
  const TensorType x = F32({2, 4, 5, 5});
  const TensorType c = F32({4});
  EXPECT_EQ(InferText("BatchNormalization", {x, c, c, c, c}), "float32[2, 4, 5, 5]");
  EXPECT_EQ(InferText("BatchNormalization", {F16({2, 4}), c, c, c, c}), "float16[2, 4]");
  EXPECT_EQ(InferText("BatchNormalization", {x, c, c, F32({5}), c}),
            "input 3 is float32[5], its shape must be [4]");
  EXPECT_EQ(InferText("BatchNormalization", {x, c, c, c, c}, {{"training_mode", kOne}}),
            "attribute 'training_mode' is set, only inference is supported");
  EXPECT_EQ(InferText("InstanceNormalization", {x, c, c}), "float32[2, 4, 5, 5]");
  EXPECT_EQ(InferText("InstanceNormalization", {F32({4}), c, c}),
            "input 0 is float32[4], its rank must be at least 2");
  EXPECT_EQ(InferText("GroupNormalization", {x, c, c}, {{"num_groups", std::int64_t{2}}}),
            "float32[2, 4, 5, 5]");
  EXPECT_EQ(InferText("GroupNormalization", {x, c, c}, {{"num_groups", std::int64_t{3}}}),
            "attribute 'num_groups' is 3, it must divide the 4 channels");
}

TEST(NormalizationOpsTest, OthersKeepTheType) {
  EXPECT_EQ(InferText("LRN", {F32({1, 4, 5, 5})}, {{"size", std::int64_t{3}}}),
            "float32[1, 4, 5, 5]");
  EXPECT_EQ(InferText("LRN", {F32({1, 4, 5, 5})}), "attribute 'size' is missing");
  EXPECT_EQ(InferText("MeanVarianceNormalization", {F32({1, 4, 5, 5})}), "float32[1, 4, 5, 5]");
  EXPECT_EQ(InferText("MeanVarianceNormalization", {F32({1, 4, 5})}),
            "attribute 'axes' names axis 3 of a tensor of rank 3");
}

TEST(NormalizationOpsTest, Dropout) {
  EXPECT_EQ(InferText("Dropout", {F32({2})}, {{"ratio", Floats{0.5F}}}, 2), "float32[2]; bool[2]");
  EXPECT_EQ(InferText("Dropout", {F32({2})}, {{"training_mode", Ints{1}}}),
            "attribute 'training_mode' is set, only inference is supported");
}

}  // namespace
}  // namespace poprt::ops
