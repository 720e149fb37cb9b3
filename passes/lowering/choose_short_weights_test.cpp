#include "passes/lowering/choose_short_weights.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "passes/graph_for_test.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"

namespace poprt::passes {
namespace {

std::vector<double> Weights(std::int64_t count, double first = 0.1) {
  std::vector<double> weights(static_cast<std::size_t>(count), 0.1);
  weights[0] = first;
  return weights;
}

bool IsChosen(GraphForTest g) {
  g.After("choose_short_weights");
  return g.graph.nodes[0].attributes.get_int("short_weights", 0) == 1;
}

struct ProductCase {
  Shape rows = {1, 1};
  std::int64_t depth = 128;
  std::int64_t columns = 128;
  ElementType element = ElementType::kFloat32;
  double first = 0.1;
  Attributes attributes = {};
};

bool IsChosen(const ProductCase& c) {
  GraphForTest g;
  Shape from = c.rows;
  from.push_back(c.depth);
  Shape to = c.rows;
  to.push_back(c.columns);
  const auto x = g.Input("x", TensorType{c.element, from});
  const auto w = g.Constant("w", Shape{c.depth, c.columns}, Weights(c.depth * c.columns, c.first));
  g.Output(g.Op("y", "FusedMatMul", {x, w}, to, c.attributes));
  return IsChosen(std::move(g));
}

TEST(ChooseShortWeightsTest, ProductsOfFewRowsOrManyWithLargeWeights) {
  EXPECT_TRUE(IsChosen(ProductCase{}));
  EXPECT_TRUE(IsChosen({.rows = {1}}));
  EXPECT_FALSE(IsChosen({.rows = {2}})) << "two rows, few weights";
  EXPECT_TRUE(IsChosen({.rows = {2, 1}, .depth = 1024, .columns = 1024}));
  EXPECT_FALSE(IsChosen({.rows = {2, 1}, .depth = 1024, .columns = 1023}));
  EXPECT_TRUE(IsChosen({.rows = {4}, .depth = 1024, .columns = 1024}));
  EXPECT_FALSE(IsChosen({.rows = {5}, .depth = 1024, .columns = 1024})) << "five rows";
  EXPECT_FALSE(IsChosen({.rows = {63}, .depth = 512, .columns = 512})) << "too few of many rows";
  EXPECT_TRUE(IsChosen({.rows = {64}, .depth = 512, .columns = 512}));
  EXPECT_FALSE(IsChosen({.rows = {127}, .depth = 512, .columns = 511})) << "few weights";
  EXPECT_TRUE(IsChosen({.rows = {128}}));
  EXPECT_TRUE(IsChosen({.rows = {2, 64}}));
  EXPECT_FALSE(IsChosen({.rows = {0}})) << "no row";
  EXPECT_FALSE(IsChosen({.depth = 127})) << "few weights";
  EXPECT_TRUE(IsChosen({.depth = 256, .columns = 64}));
  EXPECT_FALSE(IsChosen({.depth = 512, .columns = 63})) << "few columns";
  EXPECT_FALSE(IsChosen({.element = ElementType::kFloat16}));
  EXPECT_FALSE(IsChosen({.attributes = {{"bits", std::int64_t{16}}}})) << "integers";
}

/// Of some rows by weights of 1024 x 256 and, other than these, of 1024 x `others`.
bool IsChosenOfSomeRows(std::int64_t rows, std::int64_t others) {
  GraphForTest g;
  for (const std::int64_t columns : {std::int64_t{256}, others}) {
    const auto x = g.Input("x", TensorType{ElementType::kFloat32, {rows, 1024}});
    const auto w = g.Constant("w", Shape{1024, columns}, Weights(1024 * columns));
    g.Output(g.Op("y", "FusedMatMul", {x, w}, Shape{rows, columns}, {}));
  }
  return IsChosen(std::move(g));
}

TEST(ChooseShortWeightsTest, SomeRowsWhereAllProductsHaveManyWeights) {
  EXPECT_TRUE(IsChosenOfSomeRows(16, 8192 - 256));
  EXPECT_TRUE(IsChosenOfSomeRows(63, 8192 - 256));
  EXPECT_FALSE(IsChosenOfSomeRows(15, 8192 - 256)) << "too few for a matrix unit";
  EXPECT_FALSE(IsChosenOfSomeRows(16, 8192 - 257)) << "few weights together";
}

/// Of four rows by weights of 512 x 512 and, other than these, so often by 512 x `others`.
bool IsChosenBeside(std::int64_t others, int times = 1, const Attributes& attributes = {}) {
  GraphForTest g;
  const auto multiply = [&](ir::ValueId w, std::int64_t columns, const Attributes& of_product) {
    const auto x = g.Input("x", TensorType{ElementType::kFloat32, {4, 512}});
    g.Output(g.Op("y", "FusedMatMul", {x, w}, Shape{4, columns}, of_product));
  };
  const auto weights = [&](std::int64_t columns) {
    return g.Constant("w", Shape{512, columns}, Weights(512 * columns));
  };
  multiply(weights(512), 512, {});
  const auto w = weights(others);
  for (int i = 0; i < times; ++i) multiply(w, others, attributes);
  return IsChosen(std::move(g));
}

TEST(ChooseShortWeightsTest, FewWeightsOfFewRowsWhereTheyAreManyTogether) {
  EXPECT_FALSE(IsChosenBeside(3583));
  EXPECT_TRUE(IsChosenBeside(3584));
  EXPECT_FALSE(IsChosenBeside(1792, 2)) << "shared weights count once";
  EXPECT_FALSE(IsChosenBeside(3584, 1, {{"bits", std::int64_t{16}}})) << "integers do not count";
}

TEST(ChooseShortWeightsTest, WeightsCountForEachKindOfRows) {
  GraphForTest g;
  const auto w = g.Constant("w", Shape{512, 3584}, Weights(512 * 3584));
  const auto v = g.Constant("v", Shape{512, 512}, Weights(512 * 512));
  const auto multiply = [&](std::int64_t rows, ir::ValueId weights, std::int64_t columns) {
    const auto x = g.Input("x", TensorType{ElementType::kFloat32, {rows, 512}});
    g.Output(g.Op("y", "FusedMatMul", {x, weights}, Shape{rows, columns}));
  };
  multiply(128, w, 3584);
  multiply(4, v, 512);
  multiply(4, w, 3584);
  g.After("choose_short_weights");
  EXPECT_EQ(g.graph.nodes[1].attributes.get_int("short_weights", 0), 1);
}

bool IsChosenFor(const std::string& op, std::int64_t batch, std::int64_t layout, double first) {
  constexpr std::int64_t kSteps = 9;
  constexpr std::int64_t kHidden = 128;
  const std::int64_t gates = op == "RNN" ? 1 : op == "GRU" ? 3 : 4;
  GraphForTest g;
  const auto x = g.Input("x", layout == 0 ? Shape{kSteps, batch, 5} : Shape{batch, kSteps, 5});
  const auto w = g.Constant("w", Shape{1, gates * kHidden, 5}, Weights(gates * kHidden * 5, first));
  const auto r =
      g.Constant("r", Shape{1, gates * kHidden, kHidden}, Weights(gates * kHidden * kHidden));
  const Shape y = layout == 0 ? Shape{kSteps, 1, batch, kHidden} : Shape{batch, kSteps, 1, kHidden};
  g.Output(g.Op("y", op, {x, w, r}, y, {{"layout", layout}, {"hidden_size", kHidden}}));
  return IsChosen(std::move(g));
}

TEST(ChooseShortWeightsTest, RecurrentOperatorsWithOneSequence) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const std::int64_t layout : {0, 1}) {
      SCOPED_TRACE(std::string(op) + " layout " + std::to_string(layout));
      EXPECT_TRUE(IsChosenFor(op, 1, layout, 0.1));
      EXPECT_FALSE(IsChosenFor(op, 2, layout, 0.1)) << "two sequences";
      EXPECT_FALSE(IsChosenFor(op, 128, layout, 0.1)) << "many sequences";
    }
  }
}

struct ConvCase {
  std::int64_t tile = 2;
  std::int64_t group = 1;
  std::int64_t channels = 256;
  std::int64_t outs = 114;
  double first = 0.1;
  std::int64_t side = 7;
};

bool IsChosen(const ConvCase& c) {
  GraphForTest g;
  const auto x = g.Input("x", Shape{1, kernels::BlocksOf(c.channels), c.side, c.side, 16});
  const auto w = g.Constant("w", Shape{c.outs, c.channels / c.group, 3, 3},
                            Weights(c.outs * c.channels / c.group * 9, c.first));
  Attributes attributes{{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
  if (c.tile > 0) attributes.set("winograd_tile", c.tile);
  attributes.set("group", c.group);
  g.Output(g.Op("y", "BlockedConv", {x, w}, Shape{1, kernels::BlocksOf(c.outs), c.side, c.side, 16},
                attributes));
  return IsChosen(std::move(g));
}

TEST(ChooseShortWeightsTest, LargeFiltersOfWinogradsSmallerTile) {
  EXPECT_TRUE(IsChosen(ConvCase{}));
  EXPECT_FALSE(IsChosen(ConvCase{.side = 6})) << "nine tiles";
  EXPECT_FALSE(IsChosen(ConvCase{.tile = 4})) << "few rows are multiplied by each number";
  EXPECT_FALSE(IsChosen(ConvCase{.outs = 113})) << "less than 1 MiB";
  EXPECT_FALSE(IsChosen(ConvCase{.channels = 255, .outs = 128})) << "spare lanes";
}

TEST(ChooseShortWeightsTest, LargeFiltersOfDirectConvolutions) {
  EXPECT_TRUE(IsChosen(ConvCase{.tile = 0}));
  EXPECT_TRUE(IsChosen(ConvCase{.tile = 0, .channels = 255, .outs = 128})) << "spare lanes";
  EXPECT_FALSE(IsChosen(ConvCase{.tile = 0, .side = 6})) << "36 pixels";
  EXPECT_FALSE(IsChosen(ConvCase{.tile = 0, .outs = 113})) << "less than 1 MiB";
  EXPECT_FALSE(IsChosen(ConvCase{.tile = 0, .group = 2, .outs = 256})) << "groups";
}

}  // namespace
}  // namespace poprt::passes
