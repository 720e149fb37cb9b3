#include "runtime/tensor/shape.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace poprt {
namespace {

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(CheckedElementCount({}), 1);
  EXPECT_EQ(CheckedElementCount({2, 3, 4}), 24);
  EXPECT_EQ(CheckedElementCount({2, 0, 4}), 0);
}

TEST(ShapeTest, RefusesOverflowAndNegativeExtents) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(CheckedElementCount({huge, 3}), std::nullopt);
  EXPECT_EQ(CheckedElementCount({0, huge, 3}), std::nullopt);
  EXPECT_EQ(CheckedElementCount({2, -1}), std::nullopt);
}

TEST(ShapeTest, BroadcastsLikeNumPy) {
  EXPECT_EQ(Broadcast({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(Broadcast({}, {3}), (Shape{3}));
  EXPECT_EQ(Broadcast({1}, {0}), (Shape{0}));
  EXPECT_EQ(Broadcast({2}, {3}), std::nullopt);
}

TEST(ShapeTest, NormalizesAxes) {
  EXPECT_EQ(NormalizeAxis(-1, 3), 2);
  EXPECT_EQ(NormalizeAxis(3, 3), std::nullopt);
  EXPECT_EQ(NormalizeAxis(0, 0), std::nullopt);
}

TEST(ShapeTest, Prints) {
  EXPECT_EQ(ToString(TensorType{ElementType::kFloat16, {1, 3}}), "float16[1, 3]");
  EXPECT_EQ(Strides({2, 3, 4}), (Shape{12, 4, 1}));
}

}  // namespace
}  // namespace poprt
