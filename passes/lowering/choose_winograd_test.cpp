#include "passes/lowering/choose_winograd.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "passes/graph_for_test.hpp"
#include "passes/lowering/convolution_cost.hpp"
#include "passes/lowering/network_for_test.hpp"

namespace poprt::passes {
namespace {

/// One convolution in blocks of images [B, C, H, W], `attributes` with its kernel_shape.
GraphForTest BlockedConvolution(const Shape& in, const Shape& out, Attributes attributes) {
  const auto blocked = [](const Shape& s) { return Shape{s[0], s[1] / 16, s[2], s[3], 16}; };
  const Ints kernel = attributes.get_ints("kernel_shape");
  const std::int64_t depth = in[1] / attributes.get_int("group", 1);
  attributes.set("in_channels", in[1]);
  attributes.set("out_channels", out[1]);
  GraphForTest g;
  const auto x = g.Input("x", blocked(in));
  const auto w = g.graph.AddConstant(
      "w", Tensor({ElementType::kFloat32, {out[1], depth, kernel[0], kernel[1]}}));
  g.Output(g.Op("y", "BlockedConv", {x, w}, blocked(out), std::move(attributes)));
  return g;
}

/// One of 3x3, of 32 to 48 channels, that keeps the extents.
GraphForTest Convolution(std::int64_t batch, Attributes attributes = {}) {
  attributes.set("kernel_shape", Ints{3, 3});
  attributes.set("pads", Ints(4, 1));
  return BlockedConvolution({batch, 32, 14, 10}, {batch, 48, 14, 10}, std::move(attributes));
}

std::int64_t TileOf(const GraphForTest& g) {
  return g.graph.nodes[0].attributes.get_int("winograd_tile", 0);
}

TEST(ChooseWinogradTest, TheContextDecides) {
  for (std::size_t wanted = 0; wanted < kWinogradTiles.size(); ++wanted) {
    std::vector<std::string> said;
    PassContext context;
    context.decide = [&](const ir::Graph& graph, const Decision& decision) {
      EXPECT_EQ(graph.name, "g");
      said.push_back(decision.what);
      for (const Alternative& alternative : decision.alternatives) {
        said.push_back(alternative.name);
        EXPECT_EQ(alternative.node.outputs, graph.nodes[0].outputs);
      }
      return wanted;
    };
    GraphForTest g = Convolution(4);
    g.After("choose_winograd", context);
    EXPECT_EQ(TileOf(g), kWinogradTiles[wanted]);
    EXPECT_EQ(said, (std::vector<std::string>{"3x3 convolution, 32 to 48 channels, 14x10, batch 4",
                                              "direct", "Winograd F(2x2)", "Winograd F(4x4)"}));
  }
}

TEST(ChooseWinogradTest, EstimatesAreThoseOfTheCostTable) {
  const ConvolutionSize size{.batch = 1,
                             .in_channels = 32,
                             .out_channels = 48,
                             .in_height = 14,
                             .in_width = 10,
                             .out_height = 14,
                             .out_width = 10};
  PassContext context;
  std::vector<double> estimates;
  context.decide = [&](const ir::Graph& graph, const Decision& decision) {
    for (const Alternative& a : decision.alternatives) estimates.push_back(a.estimate);
    return DecideByEstimate(graph, decision);
  };
  GraphForTest g = Convolution(1);
  g.After("choose_winograd", context);
  EXPECT_EQ(estimates, (std::vector<double>{ConvolutionCost(0, size), ConvolutionCost(2, size),
                                            ConvolutionCost(4, size)}));
  EXPECT_EQ(TileOf(g), kWinogradTiles[CheapestWorthwhile(estimates)]);
}

TEST(ChooseWinogradTest, GroupsOfWholeBlocksCostLess) {
  ConvolutionSize size{.in_channels = 64,
                       .out_channels = 64,
                       .in_height = 28,
                       .in_width = 28,
                       .out_height = 28,
                       .out_width = 28};
  for (const std::int64_t tile : kWinogradTiles) {
    size.group = 1;
    const double one = ConvolutionCost(tile, size);
    size.group = 4;
    EXPECT_LT(ConvolutionCost(tile, size), one);
    EXPECT_GT(ConvolutionCost(tile, size), one / 4);
  }
  std::vector<std::string> said;
  PassContext context;
  context.decide = [&](const ir::Graph&, const Decision& decision) {
    said.push_back(decision.what);
    return std::size_t{2};
  };
  const Shape image{1, 64, 28, 28};
  GraphForTest g = BlockedConvolution(
      image, image,
      {{"group", std::int64_t{4}}, {"kernel_shape", Ints{3, 3}}, {"pads", Ints(4, 1)}});
  g.After("choose_winograd", context);
  EXPECT_EQ(TileOf(g), 4);
  EXPECT_EQ(said,
            (std::vector<std::string>{"3x3 convolution, 64 to 64 channels in 4 groups, 28x28"}));
}

TEST(ChooseWinogradTest, DilatedTapsHaveTilesInEveryPhase) {
  constexpr std::int64_t kSide = 32;
  ConvolutionSize size{.in_channels = 64, .out_channels = 64};
  size.in_height = size.in_width = size.out_height = size.out_width = kSide;
  const double plain = WinogradCost(4, size);
  const double direct = DirectCost(size);
  size.dilation_height = size.dilation_width = 2;
  EXPECT_EQ(WinogradCost(4, size), plain);
  EXPECT_LT(DirectCost(size), direct);
  // Of 32 pixels 12 phases have 3 or 2 each.
  size.dilation_height = 12;
  EXPECT_GT(WinogradCost(4, size), 1.4 * plain);
  // Most taps meet padding only.
  size.dilation_height = size.dilation_width = kSide - 1;
  EXPECT_LT(DirectCost(size), plain);

  std::string said;
  PassContext context;
  context.decide = [&](const ir::Graph&, const Decision& decision) {
    said = decision.what;
    return std::size_t{2};
  };
  GraphForTest g = Convolution(1, {{"dilations", Ints{2, 3}}});
  g.After("choose_winograd", context);
  EXPECT_EQ(TileOf(g), 4);
  EXPECT_EQ(said, "3x3 convolution, dilation 2x3, 32 to 48 channels, 14x10");
}

TEST(ChooseWinogradTest, LinesHaveOneSizeOfTiles) {
  std::vector<std::string> said;
  PassContext context;
  context.decide = [&](const ir::Graph&, const Decision& decision) {
    said.push_back(decision.what);
    for (const Alternative& alternative : decision.alternatives) said.push_back(alternative.name);
    return std::size_t{1};
  };
  GraphForTest g = BlockedConvolution({1, 32, 14, 10}, {1, 32, 13, 10},
                                      {{"kernel_shape", Ints{2, 5}}, {"pads", Ints{0, 2, 0, 2}}});
  g.After("choose_winograd", context);
  EXPECT_EQ(TileOf(g), 4);
  EXPECT_EQ(said, (std::vector<std::string>{"2x5 convolution, 32 to 32 channels, 13x10", "direct",
                                            "Winograd F(1x4)"}));
}

/// Offered to the context for one convolution without padding.
std::size_t AlternativesFor(std::int64_t channels, const Ints& kernel, const Shape& image) {
  std::size_t offered = 1;
  PassContext context;
  context.decide = [&](const ir::Graph&, const Decision& decision) {
    offered = decision.alternatives.size();
    return std::size_t{0};
  };
  GraphForTest g = BlockedConvolution({1, channels, image[0], image[1]},
                                      {1, 16, image[0] - kernel[0] + 1, image[1] - kernel[1] + 1},
                                      {{"kernel_shape", kernel}});
  g.After("choose_winograd", context);
  return offered;
}

TEST(ChooseWinogradTest, WhatTheKernelRefusesIsNotOffered) {
  EXPECT_EQ(AlternativesFor(16, {1, 256}, {1, 600}), 2);
  EXPECT_EQ(AlternativesFor(16, {1, 257}, {1, 600}), 1);
  // Transforms of so many parts of so many channels would need more memory than there may be.
  EXPECT_EQ(AlternativesFor(16, {52, 52}, {60, 60}), 3);
  EXPECT_EQ(AlternativesFor(512, {52, 52}, {60, 60}), 2);
}

TEST(ChooseWinogradTest, NothingIsToBeDecidedWhereTheAlgorithmDoesNotFit) {
  PassContext context;
  context.decide = [](const ir::Graph&, const Decision&) {
    ADD_FAILURE() << "there is one way only";
    return std::size_t{0};
  };
  GraphForTest g = Convolution(1, {{"strides", Ints{2, 2}}});
  g.After("choose_winograd", context);
  EXPECT_EQ(TileOf(g), 0);
}

TEST(ChooseWinogradTest, TakesLargeFiltersOfStrideOne) {
  Network g;
  const auto input = g.Input("x", {1, 64, 16, 16});
  g.Output(g.Conv("large", input, 64, 3));
  g.Output(g.Conv("one", input, 64, 1));
  g.Output(g.Conv("grouped", input, 64, 3, 4));
  g.Output(g.Conv("wide", input, 64, 5));
  g.Blocked({"block_channels", "choose_winograd"});
  std::vector<std::int64_t> tiles;
  for (const ir::Node& node : g.graph.nodes) {
    if (node.op == "BlockedConv") tiles.push_back(node.attributes.get_int("winograd_tile", 0));
  }
  EXPECT_EQ(tiles, (std::vector<std::int64_t>{4, 0, 4, 4}));
}

}  // namespace
}  // namespace poprt::passes
