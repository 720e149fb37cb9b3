#include "tools/poprt/words.hpp"

#include <gtest/gtest.h>

namespace poprt::cli {
namespace {

TEST(Words, NamedShapeSplitsAtTheLastEquals) {
  EXPECT_EQ(ParseNamedShape("X=1,512"), std::pair(std::string("X"), Shape{1, 512}));
  EXPECT_EQ(ParseNamedShape("a/b:0=x=2, 3"), std::pair(std::string("a/b:0=x"), Shape{2, 3}));
  EXPECT_EQ(ParseNamedShape("X="), std::pair(std::string("X"), Shape{}));
  EXPECT_EQ(ParseNamedShape("X=0"), std::pair(std::string("X"), Shape{0}));
}

TEST(Words, NamedShapeRefusesWhatIsNone) {
  for (const char* text :
       {"X", "=1", "X=-1", "X=1,", "X=1,,2", "X=a", "X=1.5", "X=99999999999999999999"}) {
    EXPECT_EQ(ParseNamedShape(text), std::nullopt) << text;
  }
}

TEST(Words, NamedPathTakesOnlyGraphNames) {
  EXPECT_EQ(ParseNamedPath("bert=a=b.onnx"),
            std::pair(std::string("bert"), std::string("a=b.onnx")));
  EXPECT_EQ(ParseNamedPath("./a=b.onnx"), std::pair(std::string(""), std::string("./a=b.onnx")));
  EXPECT_EQ(ParseNamedPath("=b.onnx"), std::pair(std::string(""), std::string("=b.onnx")));
}

TEST(Words, Numbers) {
  EXPECT_EQ(ParseInteger("-1"), -1);
  EXPECT_EQ(ParseInteger("1x"), std::nullopt);
  EXPECT_EQ(ParseInteger(""), std::nullopt);
  EXPECT_EQ(ParseNumber("0.5"), 0.5);
  EXPECT_EQ(ParseNumber("inf"), std::nullopt);
  EXPECT_EQ(ParseBool("True"), true);
  EXPECT_EQ(ParseBool("off"), false);
  EXPECT_EQ(ParseBool("1"), std::nullopt);
}

TEST(Words, SplitLeavesOutEmptyParts) {
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(Split("", ',').empty());
}

}  // namespace
}  // namespace poprt::cli
