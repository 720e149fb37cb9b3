#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

constexpr std::int64_t kZero = 0;
constexpr std::int64_t kOne = 1;
constexpr std::int64_t kTwo = 2;

TEST(DataMovementOpsTest, Concat) {
  const Attributes last{{"axis", std::int64_t{-1}}};
  EXPECT_EQ(InferText("Concat", {F16({1, 1}), F16({1, 2})}, last), "float16[1, 3]");
  EXPECT_EQ(InferText("Concat", {F32({2, 3}), F32({2, 0}), F32({2, 1})}, last), "float32[2, 4]");
  EXPECT_EQ(InferText("Concat", {F32({2, 3}), F32({1, 3})}, last),
            "input 1 is float32[1, 3], but for axis 1 its shape must be that of input 0, [2, 3]");
  EXPECT_EQ(InferText("Concat", {F32({2}), F32({2, 1})}, last),
            "input 1 is float32[2, 1], its rank must be 1");
  EXPECT_EQ(InferText("Concat", {F32({2}), F16({2})}, last),
            "input 1 is float16[2], its elements must be float32");
  EXPECT_EQ(InferText("Concat", {F32({2})}), "attribute 'axis' is missing");
  const TensorType wide = F32({0, std::int64_t{1} << 62});
  EXPECT_EQ(InferText("Concat", {wide, wide}, last), "an extent is larger than an int64 can hold");
}

TEST(DataMovementOpsTest, Split) {
  EXPECT_EQ(InferText("Split", {F32({6})}, {}, 2), "float32[3]; float32[3]");
  EXPECT_EQ(InferText("Split", {F32({7, 2})}, {{"num_outputs", std::int64_t{3}}}, 3),
            "float32[3, 2]; float32[3, 2]; float32[1, 2]");
  EXPECT_EQ(InferText("Split", {F32({2, 6})}, {{"axis", kOne}, {"split", Ints{0, 6}}}, 2),
            "float32[2, 0]; float32[2, 6]");
  EXPECT_EQ(InferText("Split", {F32({2})}, {{"split", Ints{3, -1}}}, 2),
            "attribute 'split' is [3, -1], it must not be negative");
  EXPECT_EQ(InferText("Split", {F32({2})}, {{"split", Ints{1, 2}}}, 2),
            "attribute 'split' is [1, 2], its sum must be 2, the extent of axis 0");
  EXPECT_EQ(InferText("Split", {F32({2})}, {{"split", Ints{2}}}, 2),
            "attribute 'split' has 1 numbers, there are 2 outputs");
  EXPECT_EQ(InferText("Split", {F32({4})}, {}, 6), "cannot split an extent of 4 into 6 parts");
  EXPECT_EQ(InferText("Split", {F32({4})}, {{"num_outputs", kOne}}, 2),
            "attribute 'num_outputs' is 1, there are 2 outputs");
}

TEST(DataMovementOpsTest, Slice) {
  EXPECT_EQ(InferText("Slice", {F32({5, 6})}, {{"starts", Ints{1}}, {"ends", Ints{100}}}),
            "float32[4, 6]");
  EXPECT_EQ(InferText("Slice", {F32({5, 6})},
                      {{"starts", Ints{-1, 0}},
                       {"ends", Ints{-100, 6}},
                       {"axes", Ints{-1, 0}},
                       {"steps", Ints{-2, 1}}}),
            "float32[5, 3]");
  EXPECT_EQ(InferText("Slice", {F32({5})}, {{"starts", Ints{0}}}), "attribute 'ends' is missing");
  EXPECT_EQ(
      InferText("Slice", {F32({5})}, {{"starts", Ints{0}}, {"ends", Ints{5}}, {"steps", Ints{0}}}),
      "attribute 'steps' holds 0");
}

TEST(DataMovementOpsTest, Pad) {
  EXPECT_EQ(InferText("Pad", {F32({2, 3})}, {{"pads", Ints{1, 0, 2, -1}}}), "float32[5, 2]");
  EXPECT_EQ(InferText("Pad", {F32({2, 3}), F32({})}, {{"pads", Ints{1, 2}}, {"axes", Ints{-1}}}),
            "float32[2, 6]");
  EXPECT_EQ(InferText("Pad", {F32({2})}, {{"pads", Ints{1}}}),
            "attribute 'pads' has 1 numbers, it must have 2");
  EXPECT_EQ(InferText("Pad", {F32({2})}, {{"pads", Ints{-3, 0}}}),
            "attribute 'pads' holds -3 and 0 for axis 0 of extent 2");
  EXPECT_EQ(InferText("Pad", {F32({0})}, {{"pads", Ints{0, 1}}, {"mode", "edge"}}),
            "attribute 'pads' leaves nothing of axis 0 that mode edge could repeat");
  EXPECT_EQ(InferText("Pad", {F32({2})}, {{"pads", Ints{0, 1}}, {"mode", "mirror"}}),
            "attribute 'mode' is \"mirror\", allowed are constant, reflect, edge, wrap");
  EXPECT_EQ(InferText("Pad", {F32({2}), I32({})}, {{"pads", Ints{0, 1}}}),
            "input 1 is int32[], its elements must be float32");
}

TEST(DataMovementOpsTest, Blocks) {
  EXPECT_EQ(InferText("DepthToSpace", {F32({1, 8, 2, 3})}, {{"blocksize", kTwo}}),
            "float32[1, 2, 4, 6]");
  EXPECT_EQ(InferText("SpaceToDepth", {F32({1, 2, 4, 6})}, {{"blocksize", kTwo}}),
            "float32[1, 8, 2, 3]");
  EXPECT_EQ(InferText("DepthToSpace", {F32({1, 6, 2, 3})}, {{"blocksize", kTwo}}),
            "input 0 is float32[1, 6, 2, 3], its channels must be a multiple of 4");
  EXPECT_EQ(InferText("SpaceToDepth", {F32({1, 2, 3, 6})}, {{"blocksize", kTwo}}),
            "input 0 is float32[1, 2, 3, 6], its height and width must be multiples of 2");
  EXPECT_EQ(InferText("SpaceToDepth", {F32({1, 2, 3, 6})}, {{"blocksize", kZero}}),
            "attribute 'blocksize' is 0, it must be positive");
}

TEST(DataMovementOpsTest, ReverseSequence) {
  EXPECT_EQ(InferText("ReverseSequence", {F32({4, 2, 3}), I64({2})}), "float32[4, 2, 3]");
  EXPECT_EQ(InferText("ReverseSequence", {F32({4, 2}), I64({4})}),
            "input 1 is int64[4], its shape must be [2]");
  EXPECT_EQ(InferText("ReverseSequence", {F32({4, 2}), I64({4})}, {{"batch_axis", kZero}}),
            "attributes 'batch_axis' and 'time_axis' are 0 and 0, one must be 0 and the other 1");
}

}  // namespace
}  // namespace poprt::ops
