#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

TEST(VisionOpsTest, GridSample) {
  const TensorType x = F32({2, 3, 4, 5});
  EXPECT_EQ(InferText("GridSample", {x, F32({2, 7, 6, 2})}), "float32[2, 3, 7, 6]");
  EXPECT_EQ(InferText("GridSample", {F16({2, 3, 4}), F32({2, 9, 1})}), "float16[2, 3, 9]");
  EXPECT_EQ(InferText("GridSample", {Bools({1, 1, 2, 2}), F32({1, 3, 3, 2})},
                      {{"mode", std::string("nearest")}}),
            "bool[1, 1, 3, 3]");
  EXPECT_EQ(InferText("GridSample", {Bools({1, 1, 2, 2}), F32({1, 3, 3, 2})}),
            "input 0 is bool[1, 1, 2, 2], mode linear needs numbers");
  EXPECT_EQ(InferText("GridSample", {x, F32({2, 7, 6, 3})}),
            "input 1 is float32[2, 7, 6, 3], input 0 is float32[2, 3, 4, 5]: it must hold points "
            "of 2 coordinates for 2 images");
}

TEST(VisionOpsTest, Regions) {
  const TensorType x = F32({2, 3, 4, 5});
  const Attributes size{{"output_height", std::int64_t{7}}, {"output_width", std::int64_t{6}}};
  EXPECT_EQ(InferText("RoiAlign", {x, F32({9, 4}), I64({9})}, size), "float32[9, 3, 7, 6]");
  EXPECT_EQ(InferText("RoiAlign", {x, F32({8, 4}), I64({9})}, size),
            "input 1 is float32[8, 4], its shape must be [9, 4]");
  EXPECT_EQ(InferText("RoiAlign", {x, F32({9, 4}), I64({9})}, {{"mode", std::string("sum")}}),
            "attribute 'mode' is \"sum\", allowed are avg, max");
  EXPECT_EQ(InferText("MaxRoiPool", {x, F32({9, 5})}, {{"pooled_shape", Ints{2, 3}}}),
            "float32[9, 3, 2, 3]");
  EXPECT_EQ(InferText("MaxRoiPool", {x, F32({9, 5})}, {{"pooled_shape", Ints{2}}}),
            "attribute 'pooled_shape' is [2], it must be two positive numbers");
}

TEST(VisionOpsTest, Col2Im) {
  const Attributes attributes{{"image_shape", Ints{5, 5}}, {"block_shape", Ints{1, 5}}};
  EXPECT_EQ(InferText("Col2Im", {F32({1, 10, 5})}, attributes), "float32[1, 2, 5, 5]");
  EXPECT_EQ(InferText("Col2Im", {F32({1, 10, 6})}, attributes),
            "the input [1, 10, 6] has 6 blocks, the image [5, 5] has [5, 1]");
  EXPECT_EQ(InferText("Col2Im", {F32({1, 9, 5})}, attributes),
            "the input [1, 9, 5] has 9 rows, expected a multiple of the 5 elements of a block "
            "[1, 5]");
}

TEST(VisionOpsTest, MaxUnpool) {
  const Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  EXPECT_EQ(InferText("MaxUnpool", {F32({1, 1, 2, 2}), I64({1, 1, 2, 2})}, attributes),
            "float32[1, 1, 4, 4]");
  EXPECT_EQ(InferText("MaxUnpool", {F32({1, 1, 2, 2}), I64({1, 1, 2, 2})},
                      {{"kernel_shape", Ints{2, 2}}, {"output_shape", Ints{1, 1, 5, 6}}}),
            "float32[1, 1, 5, 6]");
  EXPECT_EQ(InferText("MaxUnpool", {F32({1, 1, 2, 2}), I64({1, 1, 2, 3})}, attributes),
            "input 1 is int64[1, 1, 2, 3], its shape must be [1, 1, 2, 2]");
  EXPECT_EQ(InferText("MaxUnpool", {F32({1, 1, 2, 2}), I64({1, 1, 2, 2})},
                      {{"kernel_shape", Ints{2, 2}}, {"output_shape", Ints{5, 6}}}),
            "attribute 'output_shape' is [5, 6], the input [1, 1, 2, 2] needs [1, 1, spatial...]");
}

TEST(VisionOpsTest, DeformConv) {
  const TensorType x = F32({1, 4, 5, 5}), w = F32({6, 2, 3, 3});
  const Attributes attributes{{"group", std::int64_t{2}}, {"offset_group", std::int64_t{2}}};
  EXPECT_EQ(InferText("DeformConv", {x, w, F32({1, 36, 3, 3})}, attributes), "float32[1, 6, 3, 3]");
  EXPECT_EQ(
      InferText("DeformConv", {x, w, F32({1, 36, 3, 3}), F32({6}), F32({1, 18, 3, 3})}, attributes),
      "float32[1, 6, 3, 3]");
  EXPECT_EQ(InferText("DeformConv", {x, w, F32({1, 18, 3, 3})}, attributes),
            "input 2 is float32[1, 18, 3, 3], its shape must be [1, 36, 3, 3]");
  EXPECT_EQ(InferText("DeformConv", {x, w, F32({1, 36, 3, 3}), {}, F32({1, 9, 3, 3})}, attributes),
            "input 4 is float32[1, 9, 3, 3], its shape must be [1, 18, 3, 3]");
  EXPECT_EQ(InferText("DeformConv", {x, w, F32({1, 36, 3, 3})}),
            "input 0 is float32[1, 4, 5, 5] in 1 groups, the weights are float32[6, 2, 3, 3]");
}

}  // namespace
}  // namespace poprt::ops
