#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

// MatMul, Gemm, convolutions, pooling and Resize.
namespace poprt::ops {
namespace {

constexpr std::int64_t kOne = 1;
constexpr std::int64_t kTwo = 2;

TEST(MatMulOpsTest, MatMul) {
  EXPECT_EQ(InferText("MatMul", {F32({2, 3}), F32({3, 4})}), "float32[2, 4]");
  EXPECT_EQ(InferText("MatMul", {F32({5, 1, 2, 3}), F32({6, 3, 4})}), "float32[5, 6, 2, 4]");
  EXPECT_EQ(InferText("MatMul", {F32({3}), F32({5, 3, 4})}), "float32[5, 4]");
  EXPECT_EQ(InferText("MatMul", {F32({5, 2, 3}), F32({3})}), "float32[5, 2]");
  EXPECT_EQ(InferText("MatMul", {F32({3}), F32({3})}), "float32[]");
  EXPECT_EQ(InferText("MatMul", {F32({2, 3}), F32({4, 4})}),
            "inputs float32[2, 3] and float32[4, 4] cannot be multiplied: the inner extents are 3 "
            "and 4");
  EXPECT_EQ(InferText("MatMul", {F32({2, 2, 3}), F32({3, 3, 4})}),
            "inputs float32[2, 2, 3] and float32[3, 3, 4] cannot be multiplied: the batch axes do "
            "not broadcast");
  EXPECT_EQ(InferText("MatMul", {F32({}), F32({3})}),
            "input 0 is float32[], its rank must be at least 1");
}

TEST(MatMulOpsTest, Gemm) {
  EXPECT_EQ(InferText("Gemm", {F32({2, 3}), F32({4, 3}), F32({4})}, {{"transB", kOne}}),
            "float32[2, 4]");
  EXPECT_EQ(InferText("Gemm", {F32({3, 2}), F32({3, 4})}, {{"transA", kOne}}), "float32[2, 4]");
  EXPECT_EQ(InferText("Gemm", {F32({2, 3}), F32({4, 3})}),
            "inputs float32[2, 3] and float32[4, 3] cannot be multiplied: the inner extents are 3 "
            "and 4");
  EXPECT_EQ(InferText("Gemm", {F32({2, 3}), F32({3, 4}), F32({2})}),
            "input 2 is float32[2], which does not broadcast to [2, 4]");
}

TEST(ConvolutionOpsTest, Conv) {
  const TensorType x = F32({1, 4, 7, 7});
  EXPECT_EQ(InferText("Conv", {x, F32({8, 4, 3, 3}), F32({8})},
                      {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}),
            "float32[1, 8, 4, 4]");
  EXPECT_EQ(InferText("Conv", {x, F32({4, 1, 3, 3})},
                      {{"group", std::int64_t{4}}, {"auto_pad", "SAME_UPPER"}}),
            "float32[1, 4, 7, 7]");
  EXPECT_EQ(InferText("Conv", {x, F32({8, 3, 3, 3})}),
            "input 0 is float32[1, 4, 7, 7] in 1 groups, the weights are float32[8, 3, 3, 3] for 3 "
            "channels in each");
  EXPECT_EQ(InferText("Conv", {x, F32({3, 2, 3, 3})}, {{"group", kTwo}}),
            "the weights are float32[3, 2, 3, 3], their 3 output channels must be a multiple of "
            "attribute 'group', which is 2");
  EXPECT_EQ(InferText("Conv", {x, F32({8, 4, 3, 3}), F32({4})}),
            "input 2 is float32[4], its shape must be [8]");
  EXPECT_EQ(InferText("Conv", {x, F32({8, 4, 3, 3})}, {{"kernel_shape", Ints{3, 5}}}),
            "attribute 'kernel_shape' is [3, 5], the weights are float32[8, 4, 3, 3]");
  EXPECT_EQ(InferText("Conv", {x, F32({8, 4, 9, 3})}),
            "a window of 9 does not fit into 7, the padded input of spatial axis 0");
  EXPECT_EQ(InferText("Conv", {x, F32({8, 4, 3})}),
            "input 1 is float32[8, 4, 3], its rank must be 4");
  EXPECT_EQ(InferText("Conv", {F32({1, 4}), F32({8, 4})}),
            "input 0 is float32[1, 4], its rank must be at least 3");
}

TEST(ConvolutionOpsTest, ConvTranspose) {
  EXPECT_EQ(InferText("ConvTranspose", {F32({1, 4, 3, 3}), F32({4, 2, 3, 3})},
                      {{"strides", Ints{2, 2}}, {"group", kTwo}}),
            "float32[1, 4, 7, 7]");
  EXPECT_EQ(InferText("ConvTranspose", {F32({1, 4, 3}), F32({5, 2, 3})}),
            "input 0 is float32[1, 4, 3] in 1 groups, the weights are float32[5, 2, 3] for 5 "
            "channels");
}

TEST(PoolingOpsTest, Windows) {
  const TensorType x = F32({1, 3, 6, 6});
  EXPECT_EQ(InferText("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, 2),
            "float32[1, 3, 3, 3]; int64[1, 3, 3, 3]");
  EXPECT_EQ(InferText("AveragePool", {x},
                      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", kOne}}),
            "float32[1, 3, 3, 3]");
  EXPECT_EQ(InferText("LpPool", {x}, {{"kernel_shape", Ints{3, 3}}}), "float32[1, 3, 4, 4]");
  EXPECT_EQ(InferText("MaxPool", {U8({1, 3, 6})}, {{"kernel_shape", Ints{3}}}), "uint8[1, 3, 4]");
  EXPECT_EQ(InferText("MaxPool", {I32({1, 3, 6})}, {{"kernel_shape", Ints{3}}}),
            "input 0 is int32[1, 3, 6], its integers must have 8 bits");
  EXPECT_EQ(InferText("MaxPool", {x}), "attribute 'kernel_shape' is missing");
  EXPECT_EQ(InferText("LpPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"p", std::int64_t{0}}}),
            "attribute 'p' is 0, it must be positive");
}

TEST(PoolingOpsTest, Global) {
  EXPECT_EQ(InferText("GlobalAveragePool", {F32({2, 3, 4, 5})}), "float32[2, 3, 1, 1]");
  EXPECT_EQ(InferText("GlobalLpPool", {F32({2, 3, 4})}), "float32[2, 3, 1]");
  EXPECT_EQ(InferText("GlobalMaxPool", {F32({2, 3})}),
            "input 0 is float32[2, 3], its rank must be at least 3");
}

TEST(ResizeOpsTest, Resize) {
  const TensorType x = F32({1, 3, 4, 5});
  EXPECT_EQ(InferText("Resize", {x}, {{"scales", Floats{1.0F, 1.0F, 2.0F, 0.5F}}}),
            "float32[1, 3, 8, 2]");
  EXPECT_EQ(InferText("Resize", {x}, {{"sizes", Ints{7, 9}}, {"axes", Ints{2, 3}}}),
            "float32[1, 3, 7, 9]");
  EXPECT_EQ(InferText("Resize", {x}, {{"sizes", Ints{1, 3, 7, 9}}, {"mode", "area"}}),
            "attribute 'mode' is \"area\", allowed are nearest, linear, cubic");
  EXPECT_EQ(InferText("Upsample", {x}, {{"scales", Floats{1.0F, 1.0F, 2.0F, 2.0F}}}),
            "float32[1, 3, 8, 10]");
}

}  // namespace
}  // namespace poprt::ops
