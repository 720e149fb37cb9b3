#include "compiler/ipu/memory/order_operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"
#include "compiler/ipu/memory/liveness.hpp"

namespace poprt::ipu {
namespace {

constexpr TileRange kAll{.first = 0, .count = 4};

std::vector<std::string> Names(const GraphPlan& graph) {
  std::vector<std::string> names;
  for (const OperatorPlan& op : graph.operators) names.push_back(op.name);
  return names;
}

std::uint64_t Peak(const GraphPlan& graph) {
  std::uint64_t peak = 0;
  for (const LivenessPoint& point : FindLiveness(graph, {.tiles_per_ipu = 4}).points) {
    peak = std::max(peak, point.fullest_tile);
  }
  return peak;
}

/// Two branches that widen and narrow again, both widened first; between the host's transfers.
GraphPlan TwoBranches() {
  return WithLifetimes(
      {.name = "g",
       .tensors = {TensorOn("x", kAll, 1, TensorKind::kInput), TensorOn("a", kAll, 100),
                   TensorOn("b", kAll, 100), TensorOn("c", kAll, 1), TensorOn("d", kAll, 1),
                   TensorOn("y", kAll, 1, TensorKind::kOutput)},
       .operators = {OperatorOf("load", {}, {0}, {StepOf(Phase::kHostLoad)}),
                     OperatorOf("wide_a", {0}, {1}, {}), OperatorOf("wide_b", {0}, {2}, {}),
                     OperatorOf("narrow_a", {1}, {3}, {}), OperatorOf("narrow_b", {2}, {4}, {}),
                     OperatorOf("join", {3, 4}, {5}, {}),
                     OperatorOf("store", {5}, {}, {StepOf(Phase::kHostStore)})}});
}

TEST(OrderOperatorsTest, BranchesAreFinishedOneByOne) {
  GraphPlan graph = TwoBranches();
  graph.operators[4].outlined = 3;  // narrow_b calls narrow_a, wide_a calls wide_b
  graph.operators[1].outlined = 2;
  EXPECT_EQ(Peak(graph), 201U);
  OrderOperators(graph);
  EXPECT_EQ(Names(graph), (std::vector<std::string>{"load", "wide_a", "narrow_a", "wide_b",
                                                    "narrow_b", "join", "store"}));
  EXPECT_EQ(Peak(graph), 102U);
  EXPECT_EQ(graph.tensors[1].first, 1U);
  EXPECT_EQ(graph.tensors[1].last, 2U);
  EXPECT_EQ(graph.tensors[5].last, 6U);
  EXPECT_EQ(graph.operators[4].outlined, 2U);
  EXPECT_EQ(graph.operators[1].outlined, 3U);
}

TEST(OrderOperatorsTest, StagesStayInTheirOrder) {
  GraphPlan graph = TwoBranches();
  for (std::size_t i = 3; i < 6; ++i) graph.operators[i].stage = 1;
  const std::vector<std::string> given = Names(graph);
  OrderOperators(graph);
  EXPECT_EQ(Names(graph), given);
}

TEST(OrderOperatorsTest, AnOrderThatIsAsGoodStays) {
  GraphPlan graph =
      WithLifetimes({.name = "g",
                     .tensors = {TensorOn("x", kAll, 1, TensorKind::kInput), TensorOn("a", kAll, 2),
                                 TensorOn("y", kAll, 1, TensorKind::kOutput),
                                 TensorOn("z", kAll, 1, TensorKind::kOutput)},
                     .operators = {OperatorOf("b", {0}, {1}, {}), OperatorOf("c", {1}, {2}, {}),
                                   OperatorOf("a", {0}, {3}, {})}});
  OrderOperators(graph);
  EXPECT_EQ(Names(graph), (std::vector<std::string>{"b", "c", "a"}));
}

TEST(OrderOperatorsTest, WhoComputesInPlaceComesAfterAllOtherReaders) {
  // "in_place" would free nothing more if it were first, but "reader" still needs x as it was.
  GraphPlan graph = WithLifetimes(
      {.name = "g",
       .tensors = {TensorOn("x", kAll, 10, TensorKind::kInput), TensorOn("wide", kAll, 90),
                   TensorOn("a", kAll, 10), TensorOn("b", kAll, 1),
                   TensorOn("y", kAll, 1, TensorKind::kOutput)},
       .operators = {OperatorOf("reader", {0}, {1}, {}), OperatorOf("in_place", {0}, {2}, {}),
                     OperatorOf("narrow", {1}, {3}, {}), OperatorOf("join", {2, 3}, {4}, {})}});
  graph.tensors[2].storage = 0;
  OrderOperators(graph);
  const std::vector<std::string> names = Names(graph);
  const auto place = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  EXPECT_LT(place("reader"), place("in_place"));
}

TEST(OrderOperatorsTest, RandomGraphsKeepTheirDependenciesAndNeedNoMore) {
  int better = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t low, std::uint32_t high) {
      return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
    };
    GraphPlan graph{.name = "random", .tensors = {TensorOn("x", kAll, 5, TensorKind::kInput)}};
    for (TensorIndex i = 1; i < 60; ++i) {
      graph.tensors.push_back(TensorOn(std::to_string(i), kAll, draw(1, 50)));
      const TensorIndex a = draw(0, i - 1);
      const TensorIndex b = draw(0, i - 1);
      graph.operators.push_back(OperatorOf(std::to_string(i), {a, b}, {i}, {}));
    }
    graph.tensors.back().kind = TensorKind::kOutput;
    graph = WithLifetimes(std::move(graph));
    GraphPlan ordered = graph;
    OrderOperators(ordered);
    ASSERT_EQ(ordered.operators.size(), graph.operators.size());
    EXPECT_LE(Peak(ordered), Peak(graph));
    better += Peak(ordered) < Peak(graph) ? 1 : 0;
    std::vector<bool> is_made(graph.tensors.size(), false);
    is_made[0] = true;
    for (const OperatorPlan& op : ordered.operators) {
      for (const TensorIndex t : op.inputs) EXPECT_TRUE(is_made[t]) << op.name << " reads " << t;
      is_made[op.outputs[0]] = true;
    }
    GraphPlan again = graph;
    OrderOperators(again);
    EXPECT_EQ(Names(again), Names(ordered));
  }
  EXPECT_GT(better, 50);
}

TEST(OrderOperatorsTest, NothingToOrder) {
  GraphPlan graph;
  OrderOperators(graph);
  EXPECT_TRUE(graph.operators.empty());
}

}  // namespace
}  // namespace poprt::ipu
