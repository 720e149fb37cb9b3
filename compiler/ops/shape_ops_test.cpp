#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

std::string Reshaped(const Shape& from, const Ints& to, std::int64_t allow_zero = 0) {
  return InferText("Reshape", {F32(from)}, {{"shape", to}, {"allowzero", allow_zero}});
}

TEST(ShapeOpsTest, Reshape) {
  EXPECT_EQ(Reshaped({2, 3, 4}, {4, 6}), "float32[4, 6]");
  EXPECT_EQ(Reshaped({2, 3, 4}, {0, -1}), "float32[2, 12]");
  EXPECT_EQ(Reshaped({1}, {}), "float32[]");
  EXPECT_EQ(Reshaped({0, 3}, {-1, 3}), "float32[0, 3]");
  EXPECT_EQ(Reshaped({0, 3}, {3, 0}, 1), "float32[3, 0]");
  EXPECT_EQ(Reshaped({0, 3}, {0, -1}, 1), "cannot reshape float32[0, 3] to [0, -1]");
  EXPECT_EQ(Reshaped({2, 3}, {4, -1}), "cannot reshape float32[2, 3] to [4, -1]");
  EXPECT_EQ(Reshaped({2, 3}, {5}), "cannot reshape float32[2, 3] to [5]");
  EXPECT_EQ(Reshaped({2, 3}, {-1, -1}), "attribute 'shape' is [-1, -1], it may hold one -1 only");
  EXPECT_EQ(Reshaped({2, 3}, {-2}), "attribute 'shape' is [-2], extents must be -1 or more");
  EXPECT_EQ(Reshaped({6}, {6, 0}),
            "attribute 'shape' is [6, 0], its 0 at position 1 has no extent to copy from [6]");
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(Reshaped({6}, {big, big, -1}),
            "cannot reshape float32[6] to [1099511627776, 1099511627776, -1]");
  EXPECT_EQ(InferText("Reshape", {F32({6})}), "attribute 'shape' is missing");
}

TEST(ShapeOpsTest, Flatten) {
  EXPECT_EQ(InferText("Flatten", {F32({2, 3, 4})}), "float32[2, 12]");
  EXPECT_EQ(InferText("Flatten", {F32({2, 3, 4})}, {{"axis", std::int64_t{3}}}), "float32[24, 1]");
  EXPECT_EQ(InferText("Flatten", {F32({2, 3, 4})}, {{"axis", std::int64_t{-1}}}), "float32[6, 4]");
  EXPECT_EQ(InferText("Flatten", {F32({2, 3})}, {{"axis", std::int64_t{0}}}), "float32[1, 6]");
  EXPECT_EQ(InferText("Flatten", {F32({2, 3})}, {{"axis", std::int64_t{3}}}),
            "attribute 'axis' is 3, allowed are -2 to 2");
}

TEST(ShapeOpsTest, SqueezeAndUnsqueeze) {
  EXPECT_EQ(InferText("Squeeze", {F32({1, 2, 1})}), "float32[2]");
  EXPECT_EQ(InferText("Squeeze", {F32({1, 2, 1})}, {{"axes", Ints{-1}}}), "float32[1, 2]");
  EXPECT_EQ(InferText("Squeeze", {F32({1, 2})}, {{"axes", Ints{1}}}),
            "input 0 is float32[1, 2], axis 1 cannot be squeezed as its extent is not 1");
  EXPECT_EQ(InferText("Unsqueeze", {F32({2, 3})}, {{"axes", Ints{0, -1}}}), "float32[1, 2, 3, 1]");
  EXPECT_EQ(InferText("Unsqueeze", {F32({})}, {{"axes", Ints{0}}}), "float32[1]");
  EXPECT_EQ(InferText("Unsqueeze", {F32({2})}, {{"axes", Ints{2}}}),
            "attribute 'axes' names axis 2 of a tensor of rank 2");
  EXPECT_EQ(InferText("Unsqueeze", {F32({2})}, {{"axes", Ints{0, 0}}}),
            "attribute 'axes' names axis 0 twice");
}

TEST(ShapeOpsTest, Transpose) {
  EXPECT_EQ(InferText("Transpose", {F32({2, 3, 4})}), "float32[4, 3, 2]");
  EXPECT_EQ(InferText("Transpose", {F32({2, 3, 4})}, {{"perm", Ints{0, 2, 1}}}),
            "float32[2, 4, 3]");
  EXPECT_EQ(InferText("Transpose", {F32({})}), "float32[]");
  EXPECT_EQ(InferText("Transpose", {F32({2, 3})}, {{"perm", Ints{1, 1}}}),
            "attribute 'perm' is [1, 1], which does not order the 2 axes of input 0");
}

TEST(ShapeOpsTest, ExpandAndTile) {
  EXPECT_EQ(InferText("Expand", {F32({3, 1})}, {{"shape", Ints{2, 1, 6}}}), "float32[2, 3, 6]");
  EXPECT_EQ(InferText("Expand", {F32({3, 1})}, {{"shape", Ints{2, 1}}}),
            "input 0 is float32[3, 1], which does not broadcast with [2, 1]");
  EXPECT_EQ(InferText("Expand", {F32({1})}, {{"shape", Ints{-1}}}),
            "attribute 'shape' is [-1], extents must not be negative");
  EXPECT_EQ(InferText("Tile", {F32({2, 3})}, {{"repeats", Ints{2, 0}}}), "float32[4, 0]");
  EXPECT_EQ(InferText("Tile", {F32({2, 3})}, {{"repeats", Ints{2}}}),
            "attribute 'repeats' has 1 numbers, input 0 has rank 2");
}

TEST(ShapeOpsTest, ShapeAndSize) {
  EXPECT_EQ(InferText("Shape", {Bools({2, 3, 4})}), "int64[3]");
  EXPECT_EQ(InferText("Shape", {F32({2, 3, 4})}, {{"start", std::int64_t{-2}}}), "int64[2]");
  EXPECT_EQ(
      InferText("Shape", {F32({2, 3, 4})}, {{"start", std::int64_t{2}}, {"end", std::int64_t{-9}}}),
      "int64[0]");
  EXPECT_EQ(InferText("Size", {F32({2, 3, 4})}), "int64[]");
}

}  // namespace
}  // namespace poprt::ops
