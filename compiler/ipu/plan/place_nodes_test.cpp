#include "compiler/ipu/plan/place_nodes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/ipu/plan/graph_for_test.hpp"
#include "compiler/ir/placement.hpp"

namespace poprt::ipu {
namespace {

using ir::Placement;

/// A chain of Relu, Relu_1, ... placed so.
ir::Graph Chain(const std::vector<Placement>& placements) {
  GraphForTest g;
  g.graph.name = "m";
  ir::ValueId x = g.Input("x", {4});
  for (const Placement& placement : placements) {
    x = g.Op("Relu", {x}, {4});
    ir::SetPlacement(g.graph.nodes.back().attributes, placement);
  }
  g.Output(x);
  return g.graph;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Places(const ir::Graph& graph) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (const ir::Node& node : graph.nodes) {
    const Placement placement = ir::PlacementOf(node.attributes);
    places.emplace_back(placement.ipu.value_or(99), placement.stage.value_or(99));
  }
  return places;
}

TEST(PlaceNodesTest, NothingSaidIsNothingDone) {
  ir::Graph graph = Chain({{}, {}});
  EXPECT_EQ(*PlaceNodes(graph, 1), 1U);
  EXPECT_TRUE(ir::PlacementOf(graph.nodes[0].attributes).empty());
}

TEST(PlaceNodesTest, WhatIsMissingComesFromTheProducers) {
  ir::Graph graph = Chain({{}, {.ipu = 1, .stage = 1}, {}, {.stage = 2}, {.ipu = 1}});
  EXPECT_EQ(*PlaceNodes(graph, 2), 2U);
  EXPECT_EQ(Places(graph), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                               {0, 0}, {1, 1}, {1, 1}, {1, 2}, {1, 2}}));
}

TEST(PlaceNodesTest, IpusCanBeStages) {
  ir::Graph graph = Chain({{}, {.ipu = 1}, {}, {.ipu = 1, .stage = 2}, {}, {.ipu = 3}});
  EXPECT_EQ(*PlaceNodes(graph, 4, true), 4U);
  EXPECT_EQ(Places(graph), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                               {0, 0}, {1, 1}, {1, 1}, {1, 2}, {1, 2}, {3, 3}}));
}

TEST(PlaceNodesTest, OfSeveralProducersTheOneInTheLastStageCounts) {
  GraphForTest g;
  const ir::ValueId x = g.Input("x", {4});
  const ir::ValueId a = g.Op("Relu", {x}, {4});
  ir::SetPlacement(g.graph.nodes.back().attributes, {.ipu = 3, .stage = 1});
  const ir::ValueId b = g.Op("Abs", {x}, {4});
  ir::SetPlacement(g.graph.nodes.back().attributes, {.ipu = 0, .stage = 2});
  g.Output(g.Op("Add", {a, b}, {4}));
  EXPECT_EQ(*PlaceNodes(g.graph, 4), 4U);
  EXPECT_EQ(ir::PlacementOf(g.graph.nodes[2].attributes), (Placement{.ipu = 0, .stage = 2}));
}

TEST(PlaceNodesTest, AllProblemsAreTold) {
  ir::Graph graph = Chain({{.ipu = 5, .stage = 1}, {.ipu = 0, .stage = 0}, {.ipu = 0, .stage = 1}});
  EXPECT_EQ(std::string(PlaceNodes(graph, 2).status().message()),
            "m: node 'Relu_1' (Relu) is in stage 0 and reads 'Relu:0' of node 'Relu' in stage 1: "
            "no stage can read what a later one makes\n"
            "m: node 'Relu' (Relu) is placed on IPU 5, num_ipus is 2: raise it to 6 or place the "
            "node on a lower one\n"
            "m: node 'Relu_2' (Relu) is in stage 1 on IPU 0, node 'Relu' of the same stage on IPU "
            "5: a stage runs on one IPU");
}

TEST(PlaceNodesTest, AMissingIpuIsToldOnce) {
  ir::Graph graph = Chain({{.ipu = 2}, {}, {}});
  EXPECT_EQ(std::string(PlaceNodes(graph, 1).status().message()),
            "m: node 'Relu' (Relu) is placed on IPU 2 (and 2 more nodes), num_ipus is 1: raise it "
            "to 3 or place the node on a lower one");
}

TEST(PlaceNodesTest, WithoutAPipelineIpusFollowEachOtherAsTheyLike) {
  ir::Graph graph = Chain({{.ipu = 0}, {.ipu = 1}, {.ipu = 0}});
  EXPECT_EQ(*PlaceNodes(graph, 2), 2U);
}

}  // namespace
}  // namespace poprt::ipu
