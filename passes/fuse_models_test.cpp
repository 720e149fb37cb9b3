#include "passes/fuse_models.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ir::Graph Model(double first_weight) {
  GraphForTest g;
  const auto w = g.Constant("w", {2}, {first_weight, 2});
  const auto v = g.Constant("v", {2}, {5, 6});
  g.Output(g.Op("y", "Mul", {g.Op("a", "Add", {g.Input("x", {2}), w}, {2}), v}, {2}));
  return g.graph;
}

TEST(FuseModelsTest, IsolatesNamesAndSharesEqualConstants) {
  const auto fused = FuseModels({Model(1), Model(1), Model(3)}, {"", "mlp", ""});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_THAT(fused->names, ElementsAre("graph0", "mlp", "graph2"));
  EXPECT_EQ(ir::ToString(fused->graphs[1]),
            "graph g(mlp/x)\n"
            "  mlp/a = Add(mlp/x, mlp/w) : float32[2]\n"
            "  mlp/y = Mul(mlp/a, mlp/v) : float32[2]\n"
            "  return mlp/y\n");
  EXPECT_EQ(fused->graphs[1].nodes[0].name, "mlp/a_node");
  EXPECT_THAT(fused->graphs[2].output_names, ElementsAre("graph2/y"));
  const auto data = [&](std::size_t graph, ir::ValueId id) {
    return fused->graphs[graph].ConstantOf(id)->data();
  };
  EXPECT_EQ(data(0, 0), data(1, 0));
  EXPECT_NE(data(0, 0), data(2, 0));
  EXPECT_EQ(data(0, 1), data(2, 1));
  EXPECT_EQ(fused->constant_bytes_before, 6 * 8U);
  EXPECT_EQ(fused->constant_bytes_after, 3 * 8U);
}

TEST(FuseModelsTest, GraphsComputeWhatTheyComputeAlone) {
  const auto fused = FuseModels({Model(1), Model(3)}, {"", ""});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(LargestDifference(Model(1), fused->graphs[0]), 0);
  EXPECT_EQ(LargestDifference(Model(3), fused->graphs[1]), 0);
  EXPECT_EQ(ir::Verify(fused->graphs[1]), std::nullopt);
}

TEST(FuseModelsTest, RefusesBadNames) {
  const auto fused = FuseModels({Model(1), Model(1), Model(1)}, {"graph1", "", "a/b"});
  EXPECT_EQ(fused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(fused.status().message()), HasSubstr("model 1: name 'graph1' belongs"));
  EXPECT_THAT(std::string(fused.status().message()), HasSubstr("model 2: name 'a/b' may only"));
  EXPECT_FALSE(FuseModels({Model(1)}, {}).ok());
}

}  // namespace
}  // namespace poprt::passes
