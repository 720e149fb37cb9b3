#include "passes/conversion/round_weights_to_half.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

TEST(RoundWeightsToHalfTest, WeightsOfProductsAloneAreRounded) {
  GraphForTest g;
  const auto w = g.Constant("w", {2, 2}, {1, 0.1, -3.14159, 4096.7});
  const auto y = g.Op("y", "MatMul", {g.Input("x", {1, 2}), w}, {1, 2});
  const auto z = g.Op("z", "Gemm", {y, w}, {1, 2});
  g.Output(z);
  g.Output(g.Op("sum", "Add", {w, g.Input("b", {2, 2})}, {2, 2}));
  g.After("round_weights_to_half");
  const auto weights_of = [&](std::size_t node) {
    const auto values = g.graph.ConstantOf(g.graph.nodes[node].inputs[1])->as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> rounded{1, 0x1.998p-4F, -0x1.92p1F, 4096};
  EXPECT_EQ(weights_of(0), rounded);
  EXPECT_EQ(weights_of(1), rounded);
  const Tensor* added = g.graph.ConstantOf(g.graph.nodes[2].inputs[0]);
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(added->as<float>()[1], 0.1F);
}

TEST(RoundWeightsToHalfTest, LeavesWhatFloat16IsTooNarrowFor) {
  // Beyond the range; a column of numbers like the least of float16; a row of them.
  for (const std::vector<double>& values :
       {std::vector<double>{1, 0.1, 70000, 2}, {1.1, 1e-7, 2.3, 3e-7}, {1.1, 1.2, 1e-7, 3e-7}}) {
    GraphForTest g;
    const auto w = g.Constant("w", {2, 2}, values);
    g.Output(g.Op("y", "MatMul", {g.Input("x", {1, 2}), w}, {1, 2}));
    const std::string before = g.Text();
    std::vector<std::string> warnings;
    PassContext context;
    context.warn = [&](const std::string& message) { warnings.push_back(message); };
    EXPECT_EQ(g.After("round_weights_to_half", context), before);
    EXPECT_EQ(warnings,
              (std::vector<std::string>{
                  "model 'g': node 'y_node' has weights that float16 is too narrow for, which stay "
                  "as they are"}));
    EXPECT_EQ(g.graph.ConstantOf(g.graph.nodes[0].inputs[1])->as<float>()[1],
              static_cast<float>(values[1]));
  }
}

}  // namespace
}  // namespace poprt::passes
