#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

TEST(ElementwiseOpsTest, UnaryKeepsTheType) {
  for (const std::string_view op : {"Abs", "Erf", "Gelu", "Relu", "Swish", "Tanh"}) {
    EXPECT_EQ(InferText(op, {F16({2, 0, 3})}), "float16[2, 0, 3]") << op;
  }
  EXPECT_EQ(InferText("Neg", {I64({})}), "int64[]");
  EXPECT_EQ(InferText("Erf", {I64({})}), "int64[]");
  EXPECT_EQ(InferText("Not", {Bools({4})}), "bool[4]");
  EXPECT_EQ(InferText("IsNaN", {F16({4})}), "bool[4]");
  EXPECT_EQ(InferText("Gelu", {F32({1})}, {{"approximate", "exp"}}),
            "attribute 'approximate' is \"exp\", allowed are none, tanh");
}

TEST(ElementwiseOpsTest, BinaryBroadcasts) {
  EXPECT_EQ(InferText("Add", {F32({2, 1, 3}), F32({4, 1})}), "float32[2, 4, 3]");
  EXPECT_EQ(InferText("Mul", {I32({0, 3}), I32({1})}), "int32[0, 3]");
  EXPECT_EQ(InferText("And", {Bools({2}), Bools({})}), "bool[2]");
  EXPECT_EQ(InferText("Less", {I32({2}), I32({3, 2})}), "bool[3, 2]");
  EXPECT_EQ(InferText("Equal", {Bools({2}), Bools({2})}), "bool[2]");
  EXPECT_EQ(InferText("Add", {F32({2}), F32({3})}),
            "input 1 is float32[3], which does not broadcast with [2]");
  EXPECT_EQ(InferText("Sub", {F32({2}), F16({2})}),
            "input 1 is float16[2], its elements must be float32");
  EXPECT_EQ(InferText("Less", {F32({2}), I32({2})}),
            "input 1 is int32[2], its elements must be float32");
}

TEST(ElementwiseOpsTest, BinaryOfSpecialTypes) {
  EXPECT_EQ(InferText("Pow", {F32({2}), I64({})}), "float32[2]");
  EXPECT_EQ(InferText("Pow", {F32({2}), Bools({})}),
            "input 1 is bool[], its elements must be numbers");
  EXPECT_EQ(InferText("Pow", {{ElementType::kInt8, {2}}, I64({})}),
            "input 0 is int8[2], its integers must have 32 or 64 bits");
  EXPECT_EQ(InferText("Mod", {I32({2}), I32({2})}), "int32[2]");
  EXPECT_EQ(InferText("Mod", {F32({2}), F32({2})}, {{"fmod", std::int64_t{1}}}), "float32[2]");
  EXPECT_EQ(InferText("Mod", {F32({2}), F32({2})}),
            "input 0 is float32[2], floats need attribute 'fmod' to be 1");
  EXPECT_EQ(InferText("BitShift", {U8({2}), U8({2})}, {{"direction", "LEFT"}}), "uint8[2]");
  EXPECT_EQ(InferText("BitShift", {U8({2}), U8({2})}), "attribute 'direction' is missing");
  EXPECT_EQ(InferText("BitShift", {I32({2}), I32({2})}, {{"direction", "LEFT"}}),
            "input 0 is int32[2], its elements must be unsigned integers");
  EXPECT_EQ(InferText("PRelu", {F32({2, 3}), F32({3})}), "float32[2, 3]");
  EXPECT_EQ(InferText("PRelu", {F32({3}), F32({2, 3})}),
            "input 1 is float32[2, 3], which does not broadcast to [3]");
}

TEST(ElementwiseOpsTest, Variadic) {
  EXPECT_EQ(InferText("Max", {I32({2})}), "int32[2]");
  EXPECT_EQ(InferText("Sum", {F32({2, 1}), F32({3}), F32({4, 1, 1})}), "float32[4, 2, 3]");
  EXPECT_EQ(InferText("Mean", {I32({2})}), "input 0 is int32[2], its elements must be floats");
}

TEST(ElementwiseOpsTest, ClipAndWhere) {
  EXPECT_EQ(InferText("Clip", {F32({2})}), "float32[2]");
  EXPECT_EQ(InferText("Clip", {F32({2}), {}, F32({1})}), "float32[2]");
  EXPECT_EQ(InferText("Clip", {F32({2}), F32({2})}),
            "input 1 is float32[2], it must have one element");
  EXPECT_EQ(InferText("Clip", {F32({2}), F32({}), I32({})}),
            "input 2 is int32[], its elements must be float32");
  EXPECT_EQ(InferText("Where", {Bools({2, 1}), I64({3}), I64({})}), "int64[2, 3]");
  EXPECT_EQ(InferText("Where", {Bools({2}), I64({2}), I32({2})}),
            "input 2 is int32[2], its elements must be int64");
}

TEST(ElementwiseOpsTest, Cast) {
  EXPECT_EQ(InferText("Cast", {F32({2})}, {{"to", std::int64_t{10}}}), "float16[2]");
  EXPECT_EQ(InferText("Cast", {Bools({})}, {{"to", std::int64_t{16}}}), "bfloat16[]");
  EXPECT_EQ(InferText("Cast", {F32({2})}, {{"to", std::int64_t{8}}}),
            "attribute 'to' is 8 (string), which is not a supported element type");
  EXPECT_EQ(InferText("Cast", {F32({2})}, {{"to", std::int64_t{17}}}), "float8e4m3fn[2]");
  EXPECT_EQ(InferText("Cast", {F32({2})}, {{"to", std::int64_t{257}}}),
            "attribute 'to' is 257 (no type of ONNX), which is not a supported element type");
  EXPECT_EQ(InferText("Cast", {F32({2})}), "attribute 'to' is missing");
  EXPECT_EQ(InferText("CastLike", {F32({2}), I32({5})}), "int32[2]");
}

TEST(ElementwiseOpsTest, BitCast) {
  EXPECT_EQ(InferText("BitCast", {F32({2})}, {{"to", std::int64_t{6}}}), "int32[2]");
  EXPECT_EQ(InferText("BitCast", {F32({2})}, {{"to", std::int64_t{7}}}),
            "attribute 'to' names int64 of 64 bits, input 0 is float32[2] of 32 bits; they must be "
            "of the same size");
  EXPECT_EQ(InferText("BitCast", {F32({2})}), "attribute 'to' is missing");
}

}  // namespace
}  // namespace poprt::ops
