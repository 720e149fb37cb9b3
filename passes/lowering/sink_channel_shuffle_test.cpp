#include "passes/lowering/sink_channel_shuffle.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

/// FusedConv(shuffle(x)) with as many groups as channels and a bias.
class Shuffled : public GraphForTest {
 public:
  explicit Shuffled(std::int64_t groups, Ints perm = {0, 2, 1, 3, 4}) {
    const std::int64_t columns = kChannels / groups;
    const auto x = Input("x", {2, kChannels, 3, 4});
    const Shape parts{2, groups, columns, 3, 4};
    Shape exchanged;
    for (const std::int64_t axis : perm) exchanged.push_back(parts[static_cast<std::size_t>(axis)]);
    const auto a = Op("a", "Reshape", {x}, parts, {{"shape", parts}});
    const auto b = Op("b", "Transpose", {a}, exchanged, {{"perm", perm}});
    shuffled = Op("c", "Reshape", {b}, {2, kChannels, 3, 4}, {{"shape", Ints{2, kChannels, 3, 4}}});
    std::vector<double> weights(kChannels * 9);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i) / 64;
    std::vector<double> bias(kChannels);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<double>(i);
    Output(Op("y", "FusedConv",
              {shuffled, Constant("w", {kChannels, 1, 3, 3}, weights),
               Constant("bias", {kChannels}, bias)},
              {2, kChannels, 2, 2},
              {{"activation", "relu"},
               {"group", kChannels},
               {"pads", Ints{1, 1, 1, 1}},
               {"strides", Ints{2, 2}}}));
  }

  std::string Sunk() {
    const ir::Graph before = graph;
    After("sink_channel_shuffle");
    EXPECT_EQ(ir::Verify(graph), std::nullopt);
    EXPECT_LE(LargestDifference(before, graph), kRounding);
    std::string text;
    for (const ir::Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
    return text;
  }

  static constexpr std::int64_t kChannels = 12;
  ir::ValueId shuffled;
};

TEST(SinkChannelShuffleTest, MovesBehindDepthwiseConvolution) {
  for (const std::int64_t groups : {1, 2, 3, 4, 12}) {
    SCOPED_TRACE(groups);
    EXPECT_EQ(Shuffled(groups).Sunk(), "FusedConv Reshape Transpose Reshape");
  }
}

TEST(SinkChannelShuffleTest, LeavesOtherTransposesAndSharedShuffles) {
  EXPECT_EQ(Shuffled(3, {0, 2, 1, 4, 3}).Sunk(), "Reshape Transpose Reshape FusedConv");
  Shuffled shared(3);
  shared.Output(shared.Op("z", "Relu", {shared.shuffled}, {2, 12, 3, 4}));
  EXPECT_EQ(shared.Sunk(), "Reshape Transpose Reshape FusedConv Relu");
}

}  // namespace
}  // namespace poprt::passes
