#include "compiler/ir/nearest_name.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace poprt::ir {
namespace {

const std::vector<std::string> kKeys = {"input_model", "input_shape", "output_dir", "X"};

TEST(NearestNameTest, FindsTheSmallestEditDistance) {
  EXPECT_EQ(NearestName("input_shapes", kKeys), "input_shape");
  EXPECT_EQ(NearestName("inptu_model", kKeys), "input_model");
  EXPECT_EQ(NearestName("ouput_dir", kKeys), "output_dir");
}

TEST(NearestNameTest, IgnoresLetterCase) {
  EXPECT_EQ(NearestName("x", kKeys), "X");
  EXPECT_EQ(NearestName("INPUT_MODEL", kKeys), "input_model");
}

TEST(NearestNameTest, SuggestsNothingThatIsTooFar) {
  EXPECT_EQ(NearestName("precision", kKeys), std::nullopt);
  EXPECT_EQ(NearestName("Y", kKeys), std::nullopt);
  EXPECT_EQ(NearestName("", kKeys), std::nullopt);
  EXPECT_EQ(NearestName("x", {}), std::nullopt);
}

TEST(NearestNameTest, TakesTheFirstAmongEquals) {
  const std::vector<std::string> names = {"conv_1", "conv_2"};
  EXPECT_EQ(NearestName("conv_3", names), "conv_1");
}

}  // namespace
}  // namespace poprt::ir
