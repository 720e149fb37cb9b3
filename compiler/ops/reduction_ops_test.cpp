#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

constexpr std::int64_t kNo = 0;
constexpr std::int64_t kYes = 1;

TEST(ReductionOpsTest, Reduce) {
  const TensorType x = F32({2, 3, 4});
  EXPECT_EQ(InferText("ReduceSum", {x}), "float32[1, 1, 1]");
  EXPECT_EQ(InferText("ReduceSum", {x}, {{"keepdims", kNo}}), "float32[]");
  EXPECT_EQ(InferText("ReduceMean", {x}, {{"axes", Ints{-1}}}), "float32[2, 3, 1]");
  EXPECT_EQ(InferText("ReduceL2", {x}, {{"axes", Ints{0, 2}}, {"keepdims", kNo}}), "float32[3]");
  EXPECT_EQ(InferText("ReduceMax", {Bools({2, 3})}, {{"axes", Ints{1}}}), "bool[2, 1]");
  EXPECT_EQ(InferText("ReduceProd", {x}, {{"noop_with_empty_axes", kYes}, {"axes", Ints{}}}),
            "float32[2, 3, 4]");
  EXPECT_EQ(InferText("ReduceMin", {F32({})}), "float32[]");
  EXPECT_EQ(InferText("ReduceSum", {x}, {{"axes", Ints{3}}}),
            "attribute 'axes' names axis 3 of a tensor of rank 3");
  EXPECT_EQ(InferText("ReduceSum", {x}, {{"axes", Ints{0, -3}}}),
            "attribute 'axes' names axis 0 twice");
  EXPECT_EQ(InferText("ReduceSum", {Bools({2})}),
            "input 0 is bool[2], its elements must be numbers");
}

TEST(ReductionOpsTest, NarrowIntegers) {
  EXPECT_EQ(InferText("ReduceSum", {U8({2})}),
            "input 0 is uint8[2], its integers must have 32 or 64 bits");
  EXPECT_EQ(InferText("CumSum", {U8({2})}, {{"axis", Ints{0}}}),
            "input 0 is uint8[2], its integers must have 32 or 64 bits");
  EXPECT_EQ(InferText("ReduceMax", {U8({2})}), "uint8[1]");
  EXPECT_EQ(InferText("ReduceMin", {{ElementType::kInt16, {2}}}),
            "input 0 is int16[2], its integers must not have 16 bits");
}

TEST(ReductionOpsTest, ArgMax) {
  EXPECT_EQ(InferText("ArgMax", {F32({2, 3})}), "int64[1, 3]");
  EXPECT_EQ(InferText("ArgMin", {U8({2, 3})}, {{"axis", std::int64_t{-1}}, {"keepdims", kNo}}),
            "int64[2]");
  EXPECT_EQ(InferText("ArgMax", {F32({2, 0})}, {{"axis", std::int64_t{1}}}),
            "input 0 is float32[2, 0], axis 1 must not be empty");
  EXPECT_EQ(InferText("ArgMax", {F32({})}), "attribute 'axis' names axis 0 of a tensor of rank 0");
}

TEST(ReductionOpsTest, CumSum) {
  EXPECT_EQ(InferText("CumSum", {F32({2, 3})}, {{"axis", Ints{-2}}}), "float32[2, 3]");
  EXPECT_EQ(InferText("CumSum", {F32({2, 3})}), "attribute 'axis' is missing");
  EXPECT_EQ(InferText("CumSum", {F32({2, 3})}, {{"axis", Ints{0, 1}}}),
            "attribute 'axis' has 2 numbers, it must have one");
}

}  // namespace
}  // namespace poprt::ops
