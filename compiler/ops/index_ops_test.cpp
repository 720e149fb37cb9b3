#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

// Gather, Scatter, TopK and their kin, and the operators that make tensors from attributes.
namespace poprt::ops {
namespace {

constexpr std::int64_t kZero = 0;
constexpr std::int64_t kOne = 1;

TEST(GatherOpsTest, Gather) {
  EXPECT_EQ(InferText("Gather", {F32({5, 6}), I64({2, 3})}), "float32[2, 3, 6]");
  EXPECT_EQ(InferText("Gather", {F32({5, 6}), I32({})}, {{"axis", std::int64_t{-1}}}),
            "float32[5]");
  EXPECT_EQ(InferText("Gather", {F32({5, 6}), F32({2})}),
            "input 1 is float32[2], its elements must be int32 or int64");
  EXPECT_EQ(InferText("Gather", {F32({}), I32({})}),
            "attribute 'axis' names axis 0 of a tensor of rank 0");
}

TEST(GatherOpsTest, GatherElements) {
  EXPECT_EQ(InferText("GatherElements", {F32({5, 6}), I64({9, 2})}), "float32[9, 2]");
  EXPECT_EQ(InferText("GatherElements", {F32({5, 6}), I64({5, 7})}),
            "input 1 is int64[5, 7], its axis 1 is longer than that of input 0, float32[5, 6]");
  EXPECT_EQ(InferText("GatherElements", {F32({5, 6}), I64({5})}),
            "input 1 is int64[5], its rank must be 2");
}

TEST(GatherOpsTest, GatherND) {
  EXPECT_EQ(InferText("GatherND", {F32({2, 3, 4}), I64({7, 2})}), "float32[7, 4]");
  EXPECT_EQ(InferText("GatherND", {F32({2, 3, 4}), I64({2, 1})}, {{"batch_dims", kOne}}),
            "float32[2, 4]");
  EXPECT_EQ(InferText("GatherND", {F32({2, 3}), I64({2, 3})}),
            "input 1 is int64[2, 3], its last extent must be 1 to 2");
  EXPECT_EQ(InferText("GatherND", {F32({2, 3}), I64({5, 1})}, {{"batch_dims", kOne}}),
            "inputs float32[2, 3] and int64[5, 1] differ in the first 1 axes, which attribute "
            "'batch_dims' makes the batch");
  EXPECT_EQ(InferText("GatherND", {F32({2, 3}), I64({2})}, {{"batch_dims", kOne}}),
            "attribute 'batch_dims' is 1, inputs are float32[2, 3] and int64[2]");
}

TEST(GatherOpsTest, Scatter) {
  EXPECT_EQ(InferText("ScatterElements", {F32({5, 6}), I64({2, 3}), F32({2, 3})}), "float32[5, 6]");
  EXPECT_EQ(InferText("ScatterElements", {F32({5, 6}), I64({2, 3}), F32({2, 2})}),
            "input 2 is float32[2, 2], its shape must be [2, 3]");
  EXPECT_EQ(InferText("ScatterElements", {F32({5}), I64({2}), F32({2})}, {{"reduction", "sub"}}),
            "attribute 'reduction' is \"sub\", allowed are none, add, mul, max, min");
  EXPECT_EQ(
      InferText("ScatterElements", {Bools({5}), I64({2}), Bools({2})}, {{"reduction", "max"}}),
      "bool[5]");
  EXPECT_EQ(InferText("ScatterND", {F32({5, 6}), I64({3, 1}), F32({3, 6})}), "float32[5, 6]");
  EXPECT_EQ(InferText("ScatterND", {F32({5, 6}), I64({3, 1}), F32({3, 5})}),
            "input 2 is float32[3, 5], its shape must be [3, 6]");
  EXPECT_EQ(InferText("ScatterND", {F32({5, 6}), I64({3, 1}), I32({3, 6})}),
            "input 2 is int32[3, 6], its elements must be float32");
}

TEST(IndexOpsTest, TopK) {
  EXPECT_EQ(InferText("TopK", {F16({2, 9})}, {{"k", Ints{4}}}, 2), "float16[2, 4]; int64[2, 4]");
  EXPECT_EQ(InferText("TopK", {F32({2, 9})}, {{"k", kOne}, {"axis", kZero}}), "float32[1, 9]");
  EXPECT_EQ(InferText("TopK", {F32({2, 9})}, {{"k", Ints{10}}}),
            "attribute 'k' is 10, allowed are 0 to 9, the extent of axis 1");
}

TEST(IndexOpsTest, OneHot) {
  EXPECT_EQ(InferText("OneHot", {I64({2, 3}), F16({2})}, {{"depth", Ints{7}}}), "float16[2, 3, 7]");
  EXPECT_EQ(InferText("OneHot", {F32({2}), I32({2})}, {{"depth", Floats{7.0F}}, {"axis", kZero}}),
            "int32[7, 2]");
  EXPECT_EQ(InferText("OneHot", {I64({2}), F32({3})}, {{"depth", Ints{7}}}),
            "input 1 is float32[3], its shape must be [2]");
  EXPECT_EQ(InferText("OneHot", {I64({2}), F32({2})}, {{"depth", Ints{0}}}),
            "attribute 'depth' is 0, it must be positive");
}

TEST(IndexOpsTest, Trilu) {
  EXPECT_EQ(InferText("Trilu", {Bools({2, 3, 3})}, {{"k", Ints{-1}}}), "bool[2, 3, 3]");
  EXPECT_EQ(InferText("Trilu", {F32({3})}), "input 0 is float32[3], its rank must be at least 2");
}

std::string IntRange(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  return InferText("Range", {},
                   {{"start", Ints{start}}, {"limit", Ints{limit}}, {"delta", Ints{delta}}});
}

TEST(GeneratorOpsTest, Range) {
  EXPECT_EQ(IntRange(3, 10, 3), "int64[3]");
  EXPECT_EQ(IntRange(10, 4, -2), "int64[3]");
  EXPECT_EQ(IntRange(4, 4, 1), "int64[0]");
  EXPECT_EQ(IntRange(4, 9, -1), "int64[0]");
  EXPECT_EQ(IntRange(0, 1, 0), "attribute 'delta' is 0");
  EXPECT_EQ(IntRange(INT64_MIN, INT64_MAX, 1),
            "the range has 18446744073709551615 elements, which is too large");
  EXPECT_EQ(IntRange(INT64_MAX, INT64_MIN, INT64_MIN), "int64[2]");
  EXPECT_EQ(InferText("Range", {},
                      {{"start", Floats{0.0F}},
                       {"limit", Floats{1.1F}},
                       {"delta", Floats{0.5F}},
                       {"dtype", std::int64_t{11}}}),
            "float64[3]");
  EXPECT_EQ(
      InferText(
          "Range", {},
          {{"start", Ints{0}}, {"limit", Ints{4}}, {"delta", Ints{1}}, {"dtype", std::int64_t{6}}}),
      "int32[4]");
  const auto exact = [](double value) { return Tensor({ElementType::kFloat64, {}}, &value); };
  EXPECT_EQ(InferText("Range", {},
                      {{"start", exact(0)},
                       {"limit", exact(0.3)},
                       {"delta", exact(0.1)},
                       {"dtype", std::int64_t{11}}}),
            "float64[3]");
  EXPECT_EQ(InferText("Range", {},
                      {{"start", exact(0)},
                       {"limit", Tensor(F32({}))},
                       {"delta", exact(0.1)},
                       {"dtype", std::int64_t{11}}}),
            "attribute 'limit' is float32[], it must be one float64");
  EXPECT_EQ(InferText("Range", {},
                      {{"start", Floats{4}},
                       {"limit", Floats{0}},
                       {"delta", Floats{-1}},
                       {"dtype", std::int64_t{10}}}),
            "float16[4]");
  EXPECT_EQ(InferText("Range", {}, {{"start", Ints{0}}, {"dtype", std::int64_t{1}}}),
            "attribute 'dtype' names float32, which does not fit the bounds of the range");
}

TEST(GeneratorOpsTest, ConstantOfShape) {
  EXPECT_EQ(InferText("ConstantOfShape", {}, {{"shape", Ints{2, 0}}}), "float32[2, 0]");
  EXPECT_EQ(InferText("ConstantOfShape", {}, {{"shape", Ints{}}, {"value", Tensor(I32({1}))}}),
            "int32[]");
  EXPECT_EQ(InferText("ConstantOfShape", {}, {{"shape", Ints{-1}}}),
            "attribute 'shape' is [-1], extents must not be negative");
  EXPECT_EQ(InferText("ConstantOfShape", {}, {{"shape", Ints{}}, {"value", Tensor(I32({2}))}}),
            "attribute 'value' is int32[2], it must have one element");
}

TEST(GeneratorOpsTest, EyeLike) {
  EXPECT_EQ(InferText("EyeLike", {I32({3, 4})}), "int32[3, 4]");
  EXPECT_EQ(InferText("EyeLike", {I32({3, 4})}, {{"dtype", std::int64_t{1}}}), "float32[3, 4]");
  EXPECT_EQ(InferText("EyeLike", {I32({3})}), "input 0 is int32[3], its rank must be 2");
}

}  // namespace
}  // namespace poprt::ops
