#include "compiler/ir/placement.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace poprt::ir {
namespace {

TEST(PlacementTest, NodesKeepWhatTheySay) {
  Node node{.name = "n", .op = "Relu", .inputs = {}, .outputs = {}, .attributes = {}};
  EXPECT_TRUE(PlacementOf(node.attributes).empty());
  PlaceIfUnplaced(node, {.ipu = 1, .stage = 2});
  EXPECT_EQ(PlacementOf(node.attributes), (Placement{.ipu = 1, .stage = 2}));
  PlaceIfUnplaced(node, {.ipu = 3, .stage = 3});
  EXPECT_EQ(PlacementOf(node.attributes), (Placement{.ipu = 1, .stage = 2}));
  SetPlacement(node.attributes, {.ipu = 4});
  EXPECT_EQ(PlacementOf(node.attributes), (Placement{.ipu = 4, .stage = 2}));
}

TEST(PlacementTest, IsRemovedFromRegionsAsWell) {
  Graph inner;
  inner.nodes.push_back({.name = "i",
                         .op = "Relu",
                         .inputs = {},
                         .outputs = {},
                         .attributes = {{"__ipu_number", std::int64_t{1}}}});
  Graph graph;
  graph.nodes.push_back(
      {.name = "o",
       .op = "If",
       .inputs = {},
       .outputs = {},
       .attributes = {{"__pipeline_stage", std::int64_t{1}}, {"axis", std::int64_t{0}}},
       .regions = {inner}});
  RemovePlacements(graph);
  EXPECT_EQ(graph.nodes[0].attributes, (Attributes{{"axis", std::int64_t{0}}}));
  EXPECT_EQ(graph.nodes[0].regions[0].nodes[0].attributes, Attributes());
}

TEST(PlacementTest, OutOfRangeIsRefused) {
  for (const std::int64_t number : {std::int64_t{-1}, kMostPlacement + 1}) {
    EXPECT_THROW(PlacementOf({{"__ipu_number", number}}), std::invalid_argument);
    EXPECT_THROW(PlacementOf({{"__pipeline_stage", number}}), std::invalid_argument);
  }
  EXPECT_THROW(PlacementOf({{"__ipu_number", std::string("1")}}), std::invalid_argument);
}

}  // namespace
}  // namespace poprt::ir
