#include "compiler/ipu/plan/planned_stages.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "compiler/ipu/plan/graph_for_test.hpp"
#include "compiler/ir/placement.hpp"

namespace poprt::ipu {
namespace {

using Stages = std::vector<std::optional<std::uint32_t>>;

Stages StagesOf(const ir::Graph& graph) {
  Stages stages;
  for (const ir::Node& node : graph.nodes) {
    const ir::Placement placement = ir::PlacementOf(node.attributes);
    EXPECT_FALSE(placement.ipu);
    stages.push_back(placement.stage);
  }
  return stages;
}

/// A plan that has operators for some nodes of the graph, in these stages.
GraphPlan PlanOf(const ir::Graph& graph,
                 const std::vector<std::pair<std::size_t, std::uint32_t>>& nodes) {
  GraphPlan plan;
  for (const ir::Value& value : graph.values()) plan.tensors.push_back({.name = value.name});
  plan.operators.push_back({.name = "load", .op = "HostLoad"});
  for (const auto& [index, stage] : nodes) {
    OperatorPlan op{.name = graph.nodes[index].name, .op = graph.nodes[index].op};
    for (const ir::ValueId id : graph.nodes[index].outputs) {
      op.outputs.push_back(static_cast<TensorIndex>(id));
    }
    op.stage = stage;
    plan.operators.push_back(std::move(op));
  }
  return plan;
}

/// Four nodes, one after the other; the first says an IPU.
ir::Graph Chain() {
  GraphForTest g;
  ir::ValueId x = g.Input("x", {4});
  for (int i = 0; i < 4; ++i) x = g.Op("Relu", {x}, {4});
  ir::SetPlacement(g.graph.nodes[0].attributes, {.ipu = 1});
  g.Output(x);
  return g.graph;
}

TEST(PlannedStagesTest, NodesRunInTheStageOfTheirOperator) {
  ir::Graph graph = Chain();
  SetPlannedStages(PlanOf(graph, {{0, 0}, {1, 0}, {2, 1}, {3, 2}}), graph);
  EXPECT_EQ(StagesOf(graph), (Stages{0, 0, 1, 2}));
}

TEST(PlannedStagesTest, WhatAPatternTookUpRunsWithIt) {
  ir::Graph graph = Chain();
  SetPlannedStages(PlanOf(graph, {{0, 0}, {3, 1}}), graph);
  EXPECT_EQ(StagesOf(graph), (Stages{0, 1, 1, 1}));
}

TEST(PlannedStagesTest, WithoutAPipelineNodesSayNothing) {
  ir::Graph graph = Chain();
  SetPlannedStages(PlanOf(graph, {{0, 3}, {1, 3}, {2, 3}, {3, 3}}), graph);
  EXPECT_EQ(StagesOf(graph), (Stages(4)));
}

}  // namespace
}  // namespace poprt::ipu
