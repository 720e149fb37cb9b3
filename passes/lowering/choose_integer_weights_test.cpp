#include "passes/lowering/choose_integer_weights.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// A product of [3, depth] with weights, the multiples of 1/2 that `multiple` gives.
template <typename Multiple>
GraphForTest ProductWith(std::int64_t depth, const Multiple& multiple, std::int64_t columns = 2) {
  GraphForTest g;
  const auto x = g.Input("x", {3, depth});
  std::vector<double> weights;
  for (std::int64_t i = 0; i < columns * depth; ++i) weights.push_back(multiple(i) / 2.0);
  const auto w = g.Constant("w", Shape{depth, columns}, weights);
  g.Output(g.Op("y", "FusedMatMul", {x, w}, Shape{3, columns}, {{"trans_b", std::int64_t{0}}}));
  return g;
}

std::string ChosenFor(GraphForTest g) {
  g.After("choose_integer_weights");
  const Attributes& attributes = g.graph.nodes[0].attributes;
  if (!attributes.has("bits")) return "floats";
  return std::to_string(attributes.get_int("bits", 0)) + " bits, blocks of " +
         std::to_string(attributes.get_int("block", 0));
}

TEST(ChooseIntegerWeightsTest, SaysHowManyBitsAndRows) {
  EXPECT_EQ(ChosenFor(ProductWith(16, [](std::int64_t i) { return i % 16 - 8; })),
            "4 bits, blocks of 16");
  EXPECT_EQ(ChosenFor(ProductWith(20, [](std::int64_t i) { return i * 37 % 255 - 127; })),
            "8 bits, blocks of 20");
}

TEST(ChooseIntegerWeightsTest, WeightsOfElevenBitsAre16) {
  const auto rounded = [](std::int64_t i) { return i * 1237 % 2039; };
  EXPECT_EQ(ChosenFor(ProductWith(100, rounded, 96)), "16 bits, blocks of 64");
  EXPECT_EQ(ChosenFor(ProductWith(32, rounded, 96)), "16 bits, blocks of 32");
  EXPECT_EQ(ChosenFor(ProductWith(31, rounded, 96)), "floats") << "too short";
  EXPECT_EQ(ChosenFor(ProductWith(100, rounded, 95)), "floats") << "too few columns";
}

TEST(ChooseIntegerWeightsTest, LeavesOthers) {
  const auto not_rounded = [](std::int64_t i) { return i * 1237 % 7919; };
  EXPECT_EQ(ChosenFor(ProductWith(100, not_rounded, 96)), "floats");
  EXPECT_EQ(ChosenFor(ProductWith(16, [](std::int64_t i) { return i % 3 - 1; })), "floats")
      << "what selects is expected to be exact";
  EXPECT_EQ(ChosenFor(ProductWith(8, [](std::int64_t i) { return i % 16 - 8; })), "floats")
      << "too short for scales";
}

}  // namespace
}  // namespace poprt::passes
