#include "passes/lowering/merge_row_products.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-6;

std::vector<double> Numbers(std::int64_t count) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i % 7) - 3);
  return numbers;
}

/// Steps of an unrolled cell: x [3, 2, 4], of which some indices of `axis` are multiplied by w.
struct Cell {
  GraphForTest g;
  ir::ValueId x = g.Input("x", {3, 2, 4});
  ir::ValueId w = g.Constant("w", {4, 5}, Numbers(20));
  ir::ValueId bias = g.Constant("bias", {5}, Numbers(5));

  ir::ValueId Integers(const std::string& name, const Shape& shape, double number) {
    return g.Constant(name, TensorType{ElementType::kInt64, shape}, {number});
  }

  ir::ValueId Step(const std::string& name, std::int64_t axis, double index) {
    const Shape rows = axis == 0 ? Shape{2, 4} : Shape{3, 4};
    const auto at = Integers(name + "_at", {}, index);
    return g.Op(name, "Gather", {x, at}, rows, {{"axis", axis}});
  }
  ir::ValueId Product(const std::string& name, ir::ValueId rows, std::int64_t count,
                      const Attributes& attributes = {}) {
    return g.Op(name, "FusedMatMul", {rows, w, bias}, {count, 5}, attributes);
  }
};

int CountOf(const ir::Graph& graph, std::string_view op) {
  int count = 0;
  for (const ir::Node& node : graph.nodes) count += node.op == op ? 1 : 0;
  return count;
}

void ExpectMerged(Cell& cell, int products) {
  const ir::Graph before = cell.g.graph;
  cell.g.After("merge_row_products");
  EXPECT_EQ(CountOf(cell.g.graph, "FusedMatMul"), products);
  EXPECT_LE(LargestDifference(before, cell.g.graph), kRounding);
}

TEST(MergeRowProductsTest, StepsOfAnUnrolledCellAreMultipliedAtOnce) {
  Cell cell;
  for (const int step : {0, 1, 2}) {
    const std::string name = "y" + std::to_string(step);
    cell.g.Output(cell.Product(name, cell.Step(name + "_x", 0, step), 2));
  }
  const ir::Graph before = cell.g.graph;
  EXPECT_EQ(cell.g.After("merge_row_products"),
            "  y0_node_all:0 = FusedMatMul(x, w, bias) : float32[3, 2, 5]\n"
            "  y0 = Gather(y0_node_all:0, y0_node_index) axis=0 : float32[2, 5]\n"
            "  y1 = Gather(y0_node_all:0, y1_node_index) axis=0 : float32[2, 5]\n"
            "  y2 = Gather(y0_node_all:0, y2_node_index) axis=0 : float32[2, 5]\n"
            "  return y0, y1, y2\n");
  EXPECT_LE(LargestDifference(before, cell.g.graph), kRounding);
}

TEST(MergeRowProductsTest, StepsMayBeTheSecondAxis) {
  Cell cell;
  cell.g.Output(cell.Product("y0", cell.Step("a", 1, 0), 3));
  cell.g.Output(cell.Product("y1", cell.Step("b", 1, 1), 3));
  ExpectMerged(cell, 1);
}

TEST(MergeRowProductsTest, SlicesOfOneIndexCountToo) {
  Cell cell;
  for (const int step : {2, 0}) {
    const std::string name = "y" + std::to_string(step);
    const auto slice =
        cell.g.Op(name + "_x", "Slice", {cell.x}, {1, 2, 4},
                  {{"axes", Ints{0}}, {"starts", Ints{step}}, {"ends", Ints{step + 1}}});
    const auto rows =
        cell.g.Op(name + "_rows", "Reshape", {slice}, {2, 4}, {{"shape", Ints{2, 4}}});
    cell.g.Output(cell.Product(name, rows, 2));
  }
  ExpectMerged(cell, 1);
}

TEST(MergeRowProductsTest, LeavesWhatWouldGainNothing) {
  Cell cell;
  // One of three parts; with another activation; of other weights; of many rows; of many results.
  cell.g.Output(cell.Product("one", cell.Step("a", 0, 1), 2));
  cell.g.Output(cell.Product("relu", cell.Step("b", 0, 2), 2, {{"activation", "relu"}}));
  const auto other = cell.g.Constant("other", {4, 5}, Numbers(20));
  cell.g.Output(
      cell.g.Op("weights", "FusedMatMul", {cell.Step("c", 0, 0), other, cell.bias}, {2, 5}));
  const auto many = cell.g.Input("many", {2, 17, 4});
  const auto pair = cell.g.Input("pair", {2, 1, 4});
  for (const int step : {0, 1}) {
    const std::string name = "many" + std::to_string(step);
    const auto at = cell.Integers(name + "_at", {}, step);
    const auto rows =
        cell.g.Op(name + "_x", "Gather", {many, at}, {17, 4}, {{"axis", std::int64_t{0}}});
    cell.g.Output(cell.Product(name, rows, 17));
  }
  const auto wide =
      cell.g.Constant("wide", {4, (1 << 21) + 1}, std::vector<double>(4 * ((1 << 21) + 1)));
  for (const int step : {0, 1}) {
    const std::string name = "wide" + std::to_string(step);
    const auto at = cell.Integers(name + "_at", {}, step);
    const auto rows =
        cell.g.Op(name + "_x", "Gather", {pair, at}, {1, 4}, {{"axis", std::int64_t{0}}});
    cell.g.Output(cell.g.Op(name, "FusedMatMul", {rows, wide}, {1, (1 << 21) + 1}));
  }
  const std::string before = cell.g.Text();
  EXPECT_EQ(cell.g.After("merge_row_products"), before);
}

}  // namespace
}  // namespace poprt::passes
