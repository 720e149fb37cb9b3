#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

using enum ElementType;

std::int64_t Number(ElementType type) { return static_cast<std::int64_t>(type); }

TEST(QuantizationOpsTest, QuantizeLinear) {
  const TensorType x = F32({2, 6});
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({})}), "uint8[2, 6]");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({6}), {kInt4, {6}}}), "int4[2, 6]");
  EXPECT_EQ(
      InferText("QuantizeLinear", {x, F32({2}), {kFloat8E5M2, {2}}}, {{"axis", std::int64_t{0}}}),
      "float8e5m2[2, 6]");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({2, 2})},
                      {{"block_size", std::int64_t{4}}, {"output_dtype", Number(kInt16)}}),
            "int16[2, 6]");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({5})}),
            "scales float32[5] do not fit float32[2, 6] along axis 1");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({}), {kInt8, {1}}}), "int8[2, 6]");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({}), {kInt8, {6}}}),
            "input 2 is int8[6], its shape must be []");
  EXPECT_EQ(
      InferText("QuantizeLinear", {x, F32({}), {kInt8, {}}}, {{"output_dtype", Number(kUint8)}}),
      "input 2 is int8[], its elements must be uint8");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({})}, {{"output_dtype", Number(kInt64)}}),
            "the output would be int64, which is not what floats are quantised to");
  EXPECT_EQ(InferText("QuantizeLinear", {{kInt8, {2}}, F32({})}),
            "input 0 is int8[2], its elements must be floats or int32");
  EXPECT_EQ(InferText("QuantizeLinear", {x, F32({})}, {{"precision", Number(kInt8)}}),
            "attribute 'precision' names int8, it must name a float");
}

TEST(QuantizationOpsTest, DequantizeLinear) {
  const TensorType x{kInt4, {2, 6}};
  EXPECT_EQ(InferText("DequantizeLinear", {x, {kFloat16, {6}}, {kInt4, {6}}}), "float16[2, 6]");
  EXPECT_EQ(
      InferText("DequantizeLinear", {x, {kFloat8E8M0, {}}}, {{"output_dtype", Number(kFloat32)}}),
      "float32[2, 6]");
  EXPECT_EQ(
      InferText("DequantizeLinear", {x, {kFloat8E8M0, {}}}),
      "the output would be float8e8m0, attribute 'output_dtype' must name float32, float16 or "
      "bfloat16");
  EXPECT_EQ(InferText("DequantizeLinear", {x, F32({}), {kInt8, {}}}),
            "input 2 is int8[], its elements must be int4");
  EXPECT_EQ(InferText("DequantizeLinear", {{kInt64, {2}}, F32({})}),
            "input 0 is int64[2], which is not what floats are quantised to");
}

TEST(QuantizationOpsTest, NarrowElementsAreOnlyMoved) {
  const TensorType x{kFloat8E5M2, {2, 3}};
  EXPECT_EQ(InferText("Transpose", {x}), "float8e5m2[3, 2]");
  EXPECT_EQ(InferText("Equal", {x, x}),
            "input 0 is float8e5m2[2, 3], whose elements can only be stored and converted: add a "
            "Cast");
  EXPECT_EQ(InferText("Add", {x, x}), "input 0 is float8e5m2[2, 3], its elements must be numbers");
}

TEST(QuantizationOpsTest, DynamicQuantizeLinear) {
  EXPECT_EQ(InferText("DynamicQuantizeLinear", {F32({2, 3})}, {}, 3),
            "uint8[2, 3]; float32[]; uint8[]");
  EXPECT_EQ(InferText("DynamicQuantizeLinear", {{kFloat16, {2}}}, {}, 3),
            "input 0 is float16[2], its elements must be float32");
}

TEST(QuantizationOpsTest, IntegerProducts) {
  const TensorType a{kUint8, {2, 3}};
  const TensorType b{kInt8, {3, 4}};
  EXPECT_EQ(InferText("MatMulInteger", {a, b}), "int32[2, 4]");
  EXPECT_EQ(InferText("MatMulInteger", {a, b, {kUint8, {2}}, {kInt8, {1, 4}}}), "int32[2, 4]");
  EXPECT_EQ(InferText("MatMulInteger", {a, b, {}, {kInt8, {}}}), "int32[2, 4]");
  EXPECT_EQ(InferText("MatMulInteger", {a, b, {kUint8, {3}}}),
            "input 2 is uint8[3], which is neither one number nor one for each of 2 rows");
  EXPECT_EQ(InferText("MatMulInteger", {a, F32({3, 4})}),
            "input 1 is float32[3, 4], its elements must be int8 or uint8");
  const TensorType scale = F32({});
  EXPECT_EQ(InferText("QLinearMatMul",
                      {a, scale, {kUint8, {}}, b, F32({4}), {kInt8, {4}}, scale, {kInt8, {}}}),
            "int8[2, 4]");
  EXPECT_EQ(InferText("QLinearMatMul",
                      {a, scale, {kUint8, {}}, b, F32({3}), {kInt8, {3}}, scale, {kInt8, {}}}),
            "input 4 is float32[3], which is neither one number nor one for each of 4 columns");
}

TEST(QuantizationOpsTest, IntegerConvolutions) {
  const TensorType x{kUint8, {1, 2, 5, 5}};
  const TensorType w{kInt8, {3, 2, 3, 3}};
  EXPECT_EQ(InferText("ConvInteger", {x, w, {kUint8, {}}, {kInt8, {3}}}), "int32[1, 3, 3, 3]");
  EXPECT_EQ(
      InferText("ConvInteger", {x, w, {}, {kInt8, {2}}}),
      "input 3 is int8[2], which is neither one number nor one for each of 3 output channels");
  const TensorType scale = F32({});
  EXPECT_EQ(
      InferText(
          "QLinearConv",
          {x, scale, {kUint8, {}}, w, F32({3}), {kInt8, {3}}, scale, {kUint8, {}}, {kInt32, {3}}},
          {{"pads", Ints{1, 1, 1, 1}}}),
      "uint8[1, 3, 5, 5]");
  EXPECT_EQ(
      InferText("QLinearConv",
                {x, scale, {kUint8, {}}, w, F32({3}), {kInt8, {3}}, scale, {kUint8, {}}, F32({3})}),
      "input 8 is float32[3], its elements must be int32");
}

}  // namespace
}  // namespace poprt::ops
