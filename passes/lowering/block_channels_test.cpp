#include "passes/lowering/block_channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "passes/lowering/network_for_test.hpp"

/// block_channels and unblock_before_enlarging.
namespace poprt::passes {
namespace {

TEST(BlockChannelsTest, ConvertsAtTheBordersOnly) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {1, 3, 6, 5}), 32, 3);
  const auto y = g.Op("b", "Relu", {x}, {1, 32, 6, 5});
  const auto pooled = g.Op("c", "MaxPool", {y}, {1, 32, 3, 2},
                           {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  g.Output(g.Conv("d", pooled, 20));
  EXPECT_EQ(g.Blocked(), "BlockedConv:2 Relu:2 BlockedMaxPool:2 BlockedConv:2 UnblockChannels:20");
}

TEST(BlockChannelsTest, BlocksResidualsAndInputsOfManyChannels) {
  Network g;
  const auto x = g.Input("x", {2, 24, 3, 3});
  g.Output(g.Conv("a", x, 24, 3, 1, x));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_duplicate_nodes"}),
            "BlockChannels:2 BlockedConv:2 UnblockChannels:24");
}

TEST(BlockChannelsTest, KeepsDepthwiseBetweenOthersInBlocks) {
  Network g;
  const auto a = g.Conv("a", g.Input("x", {1, 20, 4, 4}), 40);
  g.Output(g.Conv("c", g.Conv("b", a, 40, 3, 40), 20));
  EXPECT_EQ(g.Blocked(),
            "BlockChannels:2 BlockedConv:3 BlockedConv:3 BlockedConv:2 UnblockChannels:20");
}

TEST(BlockChannelsTest, ConvertsBeforeAnImageIsEnlarged) {
  Network g;
  const auto a = g.Conv("a", g.Input("x", {2, 24, 4, 3}), 21);
  const auto shared = g.Op("r", "Resize", {a}, {2, 21, 8, 6}, {{"sizes", Ints{2, 21, 8, 6}}});
  g.Output(g.Op("s", "Resize", {a}, {2, 21, 9, 5},
                {{"sizes", Ints{2, 21, 9, 5}}, {"mode", std::string("linear")}}));
  g.Output(g.Op("t", "Resize", {a}, {2, 21, 2, 2}, {{"sizes", Ints{2, 21, 2, 2}}}));
  g.Output(g.Conv("c", shared, 16));
  g.Output(shared);
  EXPECT_EQ(g.Blocked({"block_channels", "unblock_before_enlarging"}),
            "BlockChannels:2 BlockedConv:2 Resize:2 UnblockChannels:21 UnblockChannels:21 "
            "Resize:21 Resize:2 UnblockChannels:21 BlockedConv:1 UnblockChannels:16");
}

TEST(BlockChannelsTest, PixelsOfFewChannelsArePlanesUntilTheyAreEnlarged) {
  Network g;
  const auto a = g.Conv("a", g.Conv("c", g.Input("x", {1, 3, 4, 3}), 32, 3), 5, 3);
  const auto large = g.Op("r", "Resize", {a}, {1, 5, 8, 6}, {{"sizes", Ints{1, 5, 8, 6}}});
  g.Output(g.Op("t", "Transpose", {large}, {1, 8, 6, 5}, {{"perm", Ints{0, 2, 3, 1}}}));
  const auto b = g.Conv("b", g.Input("y", {1, 24, 4, 3}), 20);
  const auto many = g.Op("s", "Resize", {b}, {1, 20, 8, 6}, {{"sizes", Ints{1, 20, 8, 6}}});
  g.Output(g.Op("u", "Transpose", {many}, {1, 8, 6, 20}, {{"perm", Ints{0, 2, 3, 1}}}));
  EXPECT_EQ(g.Blocked({"block_channels", "fuse_transpose_into_blocks", "unblock_before_enlarging"}),
            "BlockedConv:2 BlockedConv:1 UnblockChannels:5 Resize:5 Transpose:8 Reshape:8 "
            "BlockChannels:2 BlockedConv:2 Resize:2 UnblockChannels:8 Reshape:8");
}

TEST(BlockChannelsTest, RowsOfPixelsBecomeImagesInBlocks) {
  Network g;
  const auto row = g.Conv("a", g.Input("x", {2, 24, 1, 12}), 20);
  const auto line = g.Op("r", "Reshape", {row}, {2, 20, 12}, {{"shape", Ints{2, 20, 12}}});
  const auto image = g.Op("s", "Reshape", {line}, {2, 20, 3, 4}, {{"shape", Ints{2, 20, 3, 4}}});
  g.Output(g.Conv("b", image, 16, 3));
  g.Output(g.Op("t", "Reshape", {row}, {2, 10, 6, 4}, {{"shape", Ints{2, 10, 6, 4}}}));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_deadend"}),
            "BlockChannels:2 BlockedConv:2 UnblockChannels:20 Reshape:2 BlockedConv:1 "
            "UnblockChannels:16 Reshape:10");
}

TEST(BlockChannelsTest, DepthwiseFiltersPayForTheConversion) {
  Network g;
  g.Output(g.Conv("depthwise", g.Input("x", {1, 24, 4, 4}), 24, 3, 24));
  EXPECT_EQ(g.Blocked(), "BlockChannels:2 BlockedConv:2 UnblockChannels:24");
}

TEST(BlockChannelsTest, GroupsOfSinglePixelsNeedNoWholeBlocks) {
  Network g;
  const auto a = g.Conv("a", g.Input("x", {1, 12, 4, 4}), 40, 1, 4);
  g.Output(g.Conv("b", a, 40, 1, 2, a));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_duplicate_nodes"}),
            "BlockChannels:1 BlockedConv:3 BlockedConv:3 UnblockChannels:40");
}

TEST(BlockChannelsTest, GroupsFindShuffledChannels) {
  for (const std::int64_t group : {1, 4}) {
    SCOPED_TRACE(group);
    Network g;
    const auto a = g.Conv("a", g.Input("x", {2, 20, 4, 3}), 40, 1, 4);
    const auto parts =
        g.Op("p", "Reshape", {a}, {2, 4, 10, 4, 3}, {{"shape", Ints{2, 4, 10, 4, 3}}});
    const auto turned =
        g.Op("t", "Transpose", {parts}, {2, 10, 4, 4, 3}, {{"perm", Ints{0, 2, 1, 3, 4}}});
    const auto shuffled =
        g.Op("s", "Reshape", {turned}, {2, 40, 4, 3}, {{"shape", Ints{2, 40, 4, 3}}});
    const auto depthwise = g.Conv("d", shuffled, 40, 3, 40);
    g.Output(g.Conv("b", depthwise, 36, 1, group));
    EXPECT_EQ(g.Blocked({"sink_channel_shuffle", "block_channels", "eliminate_deadend"}),
              "BlockChannels:2 BlockedConv:3 BlockedConv:3 BlockedConv:3 UnblockChannels:36");
  }
}

TEST(BlockChannelsTest, LeavesWhatBlocksDoNotPayFor) {
  Network g;
  const auto x = g.Input("x", {1, 24, 4, 4});
  g.Output(g.Conv("grouped", x, 24, 3, 2));
  g.Output(g.Conv("few", x, 4, 3));
  g.Output(g.Conv("depthwise", g.Input("x2", {1, 6, 4, 4}), 6, 3, 6));
  EXPECT_EQ(g.Blocked(), "FusedConv:24 FusedConv:4 FusedConv:6");
  GraphForTest half(ElementType::kFloat16);
  half.Output(
      half.Op("y", "FusedConv",
              {half.Input("x", {1, 16, 2, 2}), half.Constant("w", {16, 16, 1, 1}, Ramp(256))},
              {1, 16, 2, 2}));
  EXPECT_EQ(half.After("block_channels"),
            "  y = FusedConv(x, w) : float16[1, 16, 2, 2]\n  return y\n");
}

TEST(BlockChannelsTest, ElementwiseOperandsFollow) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {1, 16, 3, 4}), 32);
  const auto scaled = g.Op("b", "Mul", {x, g.Constant("s", {32, 1, 1}, Ramp(32))}, {1, 32, 3, 4});
  const auto gate = g.Op("p", "GlobalAveragePool", {scaled}, {1, 32, 1, 1});
  const auto gated =
      g.Op("c", "Mul", {scaled, g.Op("q", "Sigmoid", {gate}, {1, 32, 1, 1})}, {1, 32, 3, 4});
  const auto plain = g.Op("d", "Add", {g.Input("r", {1, 32, 3, 4}), gated}, {1, 32, 3, 4});
  g.Output(g.Op("e", "Sub", {plain, g.Scalar(0.5)}, {1, 32, 3, 4}));
  EXPECT_EQ(g.Blocked(),
            "BlockChannels:1 BlockedConv:2 Mul:2 BlockedAveragePool:2 Sigmoid:2 Mul:2 "
            "BlockChannels:2 Add:2 Sub:2 UnblockChannels:32");
}

/// As curves that are applied to a picture; blocks of three channels would be five times as large.
TEST(BlockChannelsTest, PicturesMeetBlocksAsPlanes) {
  Network g;
  const auto picture = g.Input("x", {1, 3, 3, 4});
  const auto curve = g.Conv("b", g.Conv("a", picture, 32, 3), 3);
  g.Output(g.Op("c", "Mul", {curve, picture}, {1, 3, 3, 4}));
  EXPECT_EQ(g.Blocked(), "BlockedConv:2 BlockedConv:1 UnblockChannels:3 Mul:3");
}

TEST(BlockChannelsTest, SpareLanesDoNotMeetOperatorsThatBreakThem) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {1, 16, 2, 2}), 20);
  const auto divided = g.Op(
      "b", "Div", {x, g.Constant("s", {20, 1, 1}, std::vector<double>(20, 0.5))}, {1, 20, 2, 2});
  g.Output(g.Conv("c", divided, 16));
  EXPECT_EQ(g.Blocked(),
            "BlockChannels:1 BlockedConv:2 UnblockChannels:20 Div:20 BlockChannels:2 "
            "BlockedConv:1 UnblockChannels:16");
}

TEST(BlockChannelsTest, NumbersDivideSpareLanes) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {1, 16, 2, 2}), 20);
  const auto rounded =
      g.Op("b", "Round", {g.Op("d", "Div", {x, g.Scalar(0.5)}, {1, 20, 2, 2})}, {1, 20, 2, 2});
  g.Output(g.Conv("c", rounded, 16));
  EXPECT_EQ(g.Blocked(),
            "BlockChannels:1 BlockedConv:2 Div:2 Round:2 BlockedConv:1 UnblockChannels:16");
}

TEST(BlockChannelsTest, PoolingWindowsPayForTheConversion) {
  Network g;
  const auto x = g.Input("x", {1, 16, 4, 4});
  const Attributes window{{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
  g.Output(g.Op("a", "MaxPool", {x}, {1, 16, 4, 4}, window));
  g.Output(g.Op("b", "GlobalAveragePool", {x}, {1, 16, 1, 1}));
  g.Output(g.Op("c", "AveragePool", {g.Input("few", {1, 3, 4, 4})}, {1, 3, 4, 4}, window));
  EXPECT_EQ(
      g.Blocked(),
      "BlockChannels:1 BlockedMaxPool:1 UnblockChannels:16 GlobalAveragePool:16 AveragePool:3");
}

TEST(BlockChannelsTest, OperandsThatBroadcastAlongChannelsStayPlain) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {1, 16, 2, 3}), 16);
  g.Output(g.Op("b", "Mul", {x, g.Input("mask", {1, 1, 2, 3})}, {1, 16, 2, 3}));
  EXPECT_EQ(g.Blocked(), "BlockChannels:1 BlockedConv:1 UnblockChannels:16 Mul:16");
}

TEST(BlockChannelsTest, NormalizesByNeighbouringChannelsInBlocks) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {2, 3, 6, 5}), 20, 3);
  const auto norm =
      g.Op("n", "LRN", {x}, {2, 20, 6, 5}, {{"size", std::int64_t{4}}, {"alpha", 2.0F}});
  g.Output(g.Conv("c", norm, 16));
  EXPECT_EQ(g.Blocked(), "BlockedConv:2 BlockedLRN:2 BlockedConv:1 UnblockChannels:16");
}

/// Of planes it is as fast as it would be in blocks, without the conversion.
TEST(BlockChannelsTest, LrnOfPlanesStaysPlain) {
  Network g;
  g.Output(
      g.Op("n", "LRN", {g.Input("x", {1, 20, 6, 5})}, {1, 20, 6, 5}, {{"size", std::int64_t{3}}}));
  EXPECT_EQ(g.Blocked(), "LRN:20");
}

TEST(BlockChannelsTest, NormalizesInstancesInBlocks) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {2, 3, 6, 5}), 20, 3);
  const auto norm = g.Op("n", "InstanceNormalization",
                         {x, g.Constant("s", {20}, Ramp(20)), g.Constant("b", {20}, Ramp(20))},
                         {2, 20, 6, 5}, {{"epsilon", 0.01F}});
  g.Output(g.Conv("c", g.Op("r", "Relu", {norm}, {2, 20, 6, 5}), 16));
  EXPECT_EQ(g.Blocked(),
            "BlockedConv:2 BlockedMoments:2 Sub:2 Mul:2 Add:2 Relu:2 BlockedConv:1 "
            "UnblockChannels:16");
}

/// As the operator, and as rows with one scale each, whose channels are scaled behind it.
TEST(BlockChannelsTest, NormalizesGroupsInBlocks) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {2, 3, 6, 5}), 24, 3);
  const auto groups = g.Op("n", "GroupNormalization",
                           {x, g.Constant("s", {24}, Ramp(24)), g.Constant("b", {24}, Ramp(24))},
                           {2, 24, 6, 5}, {{"num_groups", std::int64_t{3}}});
  const auto rows = g.Op("r", "Reshape", {groups}, {2, 4, 180}, {{"shape", Ints{2, 4, -1}}});
  const auto norm = g.Op("m", "InstanceNormalization",
                         {rows, g.Constant("ones", {4}, std::vector<double>(4, 1.0)),
                          g.Constant("zeros", {4}, std::vector<double>(4, 0.0))},
                         {2, 4, 180});
  const auto image = g.Op("i", "Reshape", {norm}, {2, 24, 6, 5}, {{"shape", Ints{2, 24, 6, 5}}});
  const auto scaled =
      g.Op("t", "Mul", {image, g.Constant("w", {24, 1, 1}, Ramp(24))}, {2, 24, 6, 5});
  g.Output(g.Conv("c", scaled, 16));
  EXPECT_EQ(g.Blocked(),
            "BlockedConv:2 BlockedMoments:2 Sub:2 Mul:2 Add:2 BlockedMoments:2 Sub:2 Mul:2 Mul:2 "
            "BlockedConv:1 UnblockChannels:16");
}

TEST(BlockChannelsTest, JoinsAndCutsWholeBlocks) {
  Network g;
  const auto input = g.Input("x", {1, 16, 3, 3});
  const auto a = g.Conv("a", input, 32);
  const auto b = g.Conv("b", input, 24);
  const auto joined = g.Op("c", "Concat", {a, b}, {1, 56, 3, 3}, {{"axis", std::int64_t{1}}});
  const auto big = g.Op("r", "Resize", {joined}, {1, 56, 6, 6},
                        {{"scales", Floats{1, 1, 2, 2}},
                         {"mode", "nearest"},
                         {"coordinate_transformation_mode", "asymmetric"}});
  const auto [first, second] = g.Cut("cut", big, 48, 8);
  g.Output(g.Conv("d", first, 16));
  g.Output(g.Op("e", "Relu", {second}, {1, 8, 6, 6}));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_duplicate_nodes"}),
            "BlockChannels:1 BlockedConv:2 BlockedConv:2 Concat:4 Resize:4 Split:3 BlockedConv:1 "
            "UnblockChannels:16 Relu:1 UnblockChannels:8");
}

TEST(BlockChannelsTest, ImagesOfTokensAreNearlyBlocked) {
  Network g;
  const auto tokens = g.Input("tokens", {1, 6, 32});
  const auto rows = g.Op("rows", "Transpose", {tokens}, {1, 32, 6}, {{"perm", Ints{0, 2, 1}}});
  const auto image =
      g.Op("image", "Reshape", {rows}, {1, 32, 2, 3}, {{"shape", Ints{1, 32, 2, 3}}});
  g.Output(g.Conv("a", image, 32, 3, 32));
  g.Output(g.Op("b", "Resize", {image}, {1, 32, 4, 6}, {{"sizes", Ints{1, 32, 4, 6}}}));
  EXPECT_EQ(g.Blocked({"block_channels", "fuse_transpose_into_blocks", "eliminate_duplicate_nodes",
                       "eliminate_deadend"}),
            "Reshape:2 BlockChannels:2 BlockedConv:2 UnblockChannels:32 Resize:2 "
            "UnblockChannels:32");
}

TEST(BlockChannelsTest, WeightsThatAreComputedArePackedByTheProgram) {
  const auto blocked = [](Shape image, Shape weights, std::int64_t group, bool biased = false) {
    Network g;
    const Shape result{image[0], weights[0], image[2], image[3]};
    std::vector<ir::ValueId> inputs = {g.Input("x", image), g.Input("w", weights)};
    if (biased) inputs.push_back(g.Input("b", {weights[0]}));
    g.Output(g.Op("y", "Conv", inputs, result,
                  {{"group", group}, {"pads", Ints{weights[2] / 2, 1, weights[2] / 2, 1}}}));
    return g.Blocked();
  };
  const std::string packing = "BlockChannels:2 Reshape:2 Transpose:2 ";
  EXPECT_EQ(blocked({2, 32, 5, 6}, {48, 32, 1, 3}, 1, true),
            "BlockChannels:2 Reshape:3 Transpose:3 BlockedDynamicConv:3 UnblockChannels:48");
  EXPECT_EQ(blocked({1, 32, 5, 7}, {64, 16, 3, 3}, 2),
            packing + "BlockedDynamicConv:4 UnblockChannels:64");
  EXPECT_EQ(blocked({1, 32, 7, 5}, {32, 1, 5, 3}, 32, true),
            "BlockChannels:2 Reshape:16 Transpose:15 BlockedDynamicDepthwiseConv:2 "
            "UnblockChannels:32");
  EXPECT_EQ(blocked({1, 32, 5, 6}, {48, 32, 1, 3}, 1), "Conv:48") << "30 pixels only";
  EXPECT_EQ(blocked({2, 32, 5, 6}, {40, 32, 1, 3}, 1),
            "BlockChannels:2 Reshape:40 Pad:48 Reshape:3 Transpose:3 BlockedDynamicConv:3 "
            "UnblockChannels:40");
  EXPECT_EQ(blocked({2, 48, 5, 6}, {40, 24, 3, 3}, 2, true),
            "Reshape:24 BlockChannels:2 Reshape:4 Reshape:20 Pad:32 Reshape:2 Transpose:2 "
            "Reshape:20 Pad:32 Reshape BlockedDynamicConv:4 Reshape:2 UnblockChannels:20 "
            "Reshape:40")
      << "groups that are no whole blocks";
  EXPECT_EQ(blocked({2, 32, 5, 6}, {20, 8, 1, 3}, 4), "Conv:20") << "mostly zeros";
}

/// What lies in spare lanes may be anything: the kernel has to know that it does not count.
TEST(BlockChannelsTest, SpareChannelsBeforeWeightsThatAreComputedStaySpare) {
  Network g;
  const auto x = g.Input("x", {1, 44, 6, 6});
  g.Output(g.Op("y", "Conv", {x, g.Input("w", {40, 44, 1, 1})}, {1, 40, 6, 6}));
  g.Blocked();
  const auto conv = std::ranges::find(g.graph.nodes, "BlockedDynamicConv", &ir::Node::op);
  ASSERT_NE(conv, g.graph.nodes.end());
  EXPECT_EQ(conv->attributes.get_int("in_channels", 0), 44);
  EXPECT_EQ(conv->attributes.get_int("out_channels", 0), 40);
}

/// Every image is two halves of the one before: a thousand of them would have 2^1000 parts.
TEST(BlockChannelsTest, PartsOfPartsAreFollowedOnlySoFar) {
  Network g;
  auto x = g.Conv("a", g.Input("x", {1, 16, 2, 2}), 24);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i);
    const auto joined =
        g.Op("c" + name, "Concat", {x, x}, {1, 48, 2, 2}, {{"axis", std::int64_t{1}}});
    x = g.Cut("cut" + name, joined, 24, 24)[0];
  }
  g.Output(g.Op("y", "Relu", {x}, {1, 24, 2, 2}));
  g.After("block_channels");
  EXPECT_LE(g.graph.nodes.size(), 2003 + 256U);
}

TEST(BlockChannelsTest, PartsBehindOnesThatNobodyNamedStayPlain) {
  Network g;
  const auto whole = g.Conv("a", g.Input("x", {1, 16, 3, 3}), 24);
  const auto second = g.graph.AddValue("second", {ElementType::kFloat32, {1, 12, 3, 3}});
  g.graph.nodes.push_back({.name = "cut",
                           .op = "Split",
                           .inputs = {whole},
                           .outputs = {ir::kAbsent, second},
                           .attributes = {{"axis", std::int64_t{1}}, {"split", Ints{12, 12}}}});
  g.Output(g.Op("e", "Relu", {second}, {1, 12, 3, 3}));
  g.After("block_channels");
  std::string ops;
  for (const ir::Node& node : g.graph.nodes) ops += node.op + " ";
  EXPECT_EQ(ops, "BlockChannels BlockedConv UnblockChannels Split Relu ");
}

TEST(BlockChannelsTest, JoinsAndCutsPartsOfBlocks) {
  Network g;
  const auto input = g.Input("x", {1, 16, 3, 3});
  const auto joined = g.Op("c", "Concat", {g.Conv("a", input, 24), g.Conv("b", input, 32)},
                           {1, 56, 3, 3}, {{"axis", std::int64_t{1}}});
  const auto [first, second] = g.Cut("cut", joined, 28, 28);
  g.Output(first);
  g.Output(g.Op("e", "Relu", {second}, {1, 28, 3, 3}));
  // What is plain is made where plain things read it.
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_duplicate_nodes"}),
            "BlockChannels:1 BlockedConv:2 UnblockChannels:24 BlockedConv:2 UnblockChannels:32 "
            "Concat:56 Split:28 JoinChannels:4 JoinChannels:2 Relu:2 UnblockChannels:28");
}

TEST(BlockChannelsTest, SlicesOfWholeBlocksAndOfPixelsAreTakenOfBlocks) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {2, 16, 5, 6}), 40, 3);
  const auto last = g.Op("last", "Slice", {x}, {2, 24, 2, 6},
                         {{"axes", Ints{1, 2}},
                          {"starts", Ints{16, -4}},
                          {"ends", Ints{99, 99}},
                          {"steps", Ints{1, 2}}});
  g.Output(g.Op("e", "Relu", {last}, {2, 24, 2, 6}));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_deadend"}),
            "BlockChannels:1 BlockedConv:3 Slice:2 Relu:2 UnblockChannels:24");
}

TEST(BlockChannelsTest, SlicesOfPartsOfBlocksAreJoinedWhereTheyAreRead) {
  Network g;
  const auto x = g.Conv("a", g.Input("x", {2, 16, 5, 6}), 40, 3);
  const auto slice = [&](const char* name, std::int64_t first, std::int64_t step) {
    return g.Op(name, "Slice", {x}, {2, 12, 5, 6},
                {{"axes", Ints{1}},
                 {"starts", Ints{first}},
                 {"ends", Ints{first + 12 * step}},
                 {"steps", Ints{step}}});
  };
  g.Output(g.Op("e", "Relu", {slice("part", 12, 1)}, {2, 12, 5, 6}));
  g.Output(g.Op("f", "Relu", {slice("every_other", 8, 2)}, {2, 12, 5, 6}));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_deadend"}),
            "BlockChannels:1 BlockedConv:3 UnblockChannels:40 JoinChannels:1 Relu:1 "
            "UnblockChannels:12 Slice:12 Relu:12");
}

TEST(BlockChannelsTest, AxesOfOtherOperatorsAreNotAskedFor) {
  Network g;
  const Shape shape{2, 16, 5, 6};
  const auto sums = g.Op("sums", "CumSum", {g.Input("x", shape)}, shape, {{"axis", Ints{-1}}});
  const auto slice = g.Op("last", "Slice", {sums}, {2, 16, 5, 1},
                          {{"axes", Ints{3}}, {"starts", Ints{-1}}, {"ends", Ints{9}}});
  g.Output(g.Op("e", "Sub", {slice, sums}, shape));
  EXPECT_EQ(g.Blocked(), "CumSum:16 Slice:16 Sub:16");
}

/// The units of ShuffleNet's second version: what both halves become is joined, shuffled and cut.
TEST(BlockChannelsTest, HalvesOfShuffledChannelsAreTakenFromWhereTheyAre) {
  Network g;
  const auto input = g.Input("x", {2, 16, 3, 3});
  const auto joined = g.Op("c", "Concat", {g.Conv("a", input, 24), g.Conv("b", input, 24)},
                           {2, 48, 3, 3}, {{"axis", std::int64_t{1}}});
  const auto parts = g.Op("p", "Reshape", {joined}, {2, 2, 24, 3, 3}, {});
  const auto exchanged =
      g.Op("t", "Transpose", {parts}, {2, 24, 2, 3, 3}, {{"perm", Ints{0, 2, 1, 3, 4}}});
  const auto shuffled = g.Op("s", "Reshape", {exchanged}, {2, 48, 3, 3}, {});
  const auto [first, second] = g.Cut("cut", shuffled, 24, 24);
  g.Output(g.Conv("d", first, 24, 3, 24));
  g.Output(g.Op("e", "Relu", {second}, {2, 24, 3, 3}));
  g.Output(g.Op("f", "Relu", {shuffled}, {2, 48, 3, 3}));
  EXPECT_EQ(g.Blocked({"block_channels", "eliminate_duplicate_nodes", "eliminate_deadend"}),
            "BlockChannels:1 BlockedConv:2 BlockedConv:2 JoinChannels:2 BlockedConv:2 "
            "UnblockChannels:24 JoinChannels:2 Relu:2 UnblockChannels:24 JoinChannels:3 Relu:3 "
            "UnblockChannels:48");
}

}  // namespace
}  // namespace poprt::passes
