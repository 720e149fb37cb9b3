#include "passes/lowering/fused_operator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// lower_to_fused, lower_to_batched_matmul and what fuses into their results.
namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

std::vector<double> Ramp(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i % 7) / 4 - 0.75;
  return values;
}

/// Runs the pass; the result must compute the same.
std::string Lowered(GraphForTest& g, std::initializer_list<const char*> passes) {
  const ir::Graph before = g.graph;
  for (const char* pass : passes) g.After(pass);
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return g.Text();
}

TEST(LowerToFusedTest, TakesMatMulWithConstantWeights) {
  GraphForTest g;
  g.Output(g.Op("y", "MatMul", {g.Input("x", {2, 3}), g.Constant("w", {3, 4}, Ramp(12))}, {2, 4}));
  EXPECT_EQ(Lowered(g, {"lower_to_fused"}),
            "  y = FusedMatMul(x, w) trans_b=0 : float32[2, 4]\n  return y\n");
}

TEST(LowerToFusedTest, TakesOneMatrixOfAnyRank) {
  GraphForTest g;
  const auto w = g.Constant("w", {1, 1, 3, 4}, Ramp(12));
  g.Output(g.Op("y", "MatMul", {g.Input("x", {2, 5, 2, 3}), w}, {2, 5, 2, 4}));
  const auto matrix = g.Constant("matrix", {3, 4}, Ramp(12));
  g.Output(g.Op("vector", "MatMul", {g.Input("r", {3}), matrix}, {4}));
  g.Output(g.Op("z", "MatMul", {g.Input("u", {2, 3}), w}, {1, 1, 2, 4}));
  const auto many = g.Constant("v", {2, 1, 3, 4}, Ramp(24));
  g.Output(g.Op("t", "MatMul", {g.Input("s", {2, 1, 2, 3}), many}, {2, 1, 2, 4}));
  EXPECT_EQ(Lowered(g, {"lower_to_fused"}),
            "  y = FusedMatMul(x, y_node_matrix) trans_b=0 : float32[2, 5, 2, 4]\n"
            "  vector = FusedMatMul(r, matrix) trans_b=0 : float32[4]\n"
            "  z = MatMul(u, w) : float32[1, 1, 2, 4]\n"
            "  t = MatMul(s, v) : float32[2, 1, 2, 4]\n"
            "  return y, vector, z, t\n");
}

TEST(LowerToFusedTest, ColumnsAreRowsByTheTransposedMatrix) {
  GraphForTest g;
  const auto w = g.Constant("w", {1, 4, 3}, Ramp(12));
  g.Output(g.Op("y", "MatMul", {w, g.Input("x", {5, 2, 3, 1})}, {5, 2, 4, 1}));
  g.Output(g.Op("z", "MatMul", {w, g.Input("u", {3, 1})}, {1, 4, 1}));
  g.Output(g.Op("t", "MatMul", {w, g.Input("s", {5, 3, 2})}, {5, 4, 2}));
  EXPECT_EQ(Lowered(g, {"lower_to_fused"}),
            "  y_node_1:0 = Reshape(x) shape=[10, 3] : float32[10, 3]\n"
            "  y_node_2:0 = FusedMatMul(y_node_1:0, y_node_matrix) trans_b=1 : float32[10, 4]\n"
            "  y = Reshape(y_node_2:0) shape=[5, 2, 4, 1] : float32[5, 2, 4, 1]\n"
            "  z_node_1:0 = Reshape(u) shape=[1, 3] : float32[1, 3]\n"
            "  z_node_2:0 = FusedMatMul(z_node_1:0, z_node_matrix) trans_b=1 : float32[1, 4]\n"
            "  z = Reshape(z_node_2:0) shape=[1, 4, 1] : float32[1, 4, 1]\n"
            "  t = MatMul(w, s) : float32[5, 4, 2]\n"
            "  return y, z, t\n");
}

TEST(LowerToFusedTest, MultipliesAlphaAndBetaIntoGemmsConstants) {
  GraphForTest g;
  g.Output(g.Op(
      "y", "Gemm",
      {g.Input("x", {2, 3}), g.Constant("w", {4, 3}, Ramp(12)), g.Constant("b", {1, 4}, Ramp(4))},
      {2, 4}, {{"alpha", 0.5F}, {"beta", 2.0F}, {"transB", std::int64_t{1}}}));
  EXPECT_EQ(Lowered(g, {"lower_to_fused"}),
            "  y = FusedMatMul(x, y_node_weights, y_node_bias) trans_b=1 : float32[2, 4]\n"
            "  return y\n");
}

TEST(LowerToFusedTest, RunTimeMatrixOfGemmBecomesResidual) {
  GraphForTest g;
  g.Output(g.Op("y", "Gemm",
                {g.Input("x", {2, 3}), g.Constant("w", {3, 4}, Ramp(12)), g.Input("r", {2, 4})},
                {2, 4}));
  EXPECT_EQ(Lowered(g, {"lower_to_fused"}),
            "  y = FusedMatMul(x, w, -, r) trans_b=0 : float32[2, 4]\n  return y\n");
}

TEST(LowerToFusedTest, LeavesWhatHasNoElements) {
  GraphForTest g;
  const auto none = g.Constant("none", {0, 4}, {});
  g.Output(g.Op("y", "MatMul", {g.Input("a", {2, 0}), none}, {2, 4}));
  g.Output(g.Op("z", "MatMul", {g.Input("b", {0, 3}), g.Constant("w", {3, 4}, Ramp(12))}, {0, 4}));
  g.Output(g.Op("u", "MatMul", {g.Input("c", {5, 2, 0}), g.Input("d", {5, 0, 4})}, {5, 2, 4}));
  const std::string before = g.Text();
  EXPECT_EQ(Lowered(g, {"lower_to_fused", "lower_to_batched_matmul"}), before);
}

TEST(LowerToFusedTest, LeavesOthers) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3});
  const auto w = g.Constant("w", {3, 4}, Ramp(12));
  const auto a = g.Op("a", "MatMul", {x, g.Input("run_time", {3, 4})}, {2, 4});
  const auto t =
      g.Op("t", "Gemm", {g.Input("xt", {3, 2}), w}, {2, 4}, {{"transA", std::int64_t{1}}});
  const auto b = g.Op("b", "Gemm", {x, w, g.Input("bias", {4})}, {2, 4});
  for (const auto id : {a, t, b}) g.Output(id);
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_to_fused"), before);
}

TEST(FuseIntoFusedTest, ConvTakesBiasThenResidualThenActivation) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 3, 3});
  const auto conv = g.Op("conv", "Conv", {x, g.Constant("w", {2, 2, 3, 3}, Ramp(36))}, {1, 2, 3, 3},
                         {{"pads", Ints{1, 1, 1, 1}}});
  const auto biased =
      g.Op("biased", "Add", {conv, g.Constant("b", {2, 1, 1}, {0.5, -1})}, {1, 2, 3, 3});
  const auto sum = g.Op("sum", "Add", {x, biased}, {1, 2, 3, 3});
  g.Output(g.Op("y", "Relu", {sum}, {1, 2, 3, 3}));
  EXPECT_EQ(Lowered(g, {"lower_to_fused", "fuse_bias_into_fused", "fuse_residual_into_fused",
                        "fuse_activation_into_fused"}),
            "  y = FusedConv(x, w, conv_node_bias, x) activation=\"relu\" pads=[1, 1, 1, 1] : "
            "float32[1, 2, 3, 3]\n  return y\n");
  EXPECT_EQ(g.graph.nodes[0].name, "conv_node");
}

/// FusedMatMul m of float32[2, 4] from x [2, 3].
struct Product {
  GraphForTest g;
  ir::ValueId m;
  Product() {
    m = g.Op("m", "FusedMatMul", {g.Input("x", {2, 3}), g.Constant("w", {3, 4}, Ramp(12))}, {2, 4},
             {{"trans_b", std::int64_t{0}}});
  }
};

TEST(FuseBiasIntoFusedTest, TakesVectorsAndScalarsOnEitherSide) {
  for (const Shape& shape : {Shape{4}, Shape{1, 4}, Shape{1}, Shape{}}) {
    Product p;
    const auto count = static_cast<std::size_t>(ElementCount(shape));
    const auto b = p.g.Constant("b", shape, Ramp(count));
    p.g.Output(p.g.Op("y", "Add", {b, p.m}, {2, 4}));
    EXPECT_EQ(Lowered(p.g, {"fuse_bias_into_fused"}),
              "  y = FusedMatMul(x, w, m_node_bias) trans_b=0 : float32[2, 4]\n  return y\n");
  }
}

TEST(FuseBiasIntoFusedTest, LeavesOthers) {
  const auto keeps = [](Product& p, ir::ValueId other, bool also_output) {
    p.g.Output(p.g.Op("y", "Add", {p.m, other}, {2, 4}));
    if (also_output) p.g.Output(p.m);
    const std::string before = p.g.Text();
    EXPECT_EQ(p.g.After("fuse_bias_into_fused"), before);
  };
  Product rows;
  keeps(rows, rows.g.Constant("b", {2, 1}, {1, 2}), false);
  Product run_time;
  keeps(run_time, run_time.g.Input("b", {4}), false);
  Product output_between;
  keeps(output_between, output_between.g.Constant("b", {4}, Ramp(4)), true);
}

TEST(FuseResidualIntoFusedTest, MovesTheLaterProductBehindTheResidual) {
  Product p;
  const auto x2 = p.g.Input("x2", {2, 3});
  const auto n = p.g.Op("n", "FusedMatMul", {x2, p.g.Constant("v", {3, 4}, Ramp(12))}, {2, 4},
                        {{"trans_b", std::int64_t{0}}});
  const auto r = p.g.Op("r", "Exp", {p.m}, {2, 4});
  const auto s = p.g.Op("s", "Add", {n, r}, {2, 4});
  p.g.Output(s);
  EXPECT_EQ(Lowered(p.g, {"fuse_residual_into_fused"}),
            "  m = FusedMatMul(x, w) trans_b=0 : float32[2, 4]\n"
            "  r = Exp(m) : float32[2, 4]\n"
            "  s = FusedMatMul(x2, v, -, r) trans_b=0 : float32[2, 4]\n"
            "  return s\n");
}

TEST(FuseResidualIntoFusedTest, LeavesOtherUsesAndOtherShapes) {
  Product doubled;
  doubled.g.Output(doubled.g.Op("y", "Add", {doubled.m, doubled.m}, {2, 4}));
  std::string before = doubled.g.Text();
  EXPECT_EQ(doubled.g.After("fuse_residual_into_fused"), before);
  Product row;
  row.g.Output(row.g.Op("y", "Add", {row.m, row.g.Input("r", {4})}, {2, 4}));
  before = row.g.Text();
  EXPECT_EQ(row.g.After("fuse_residual_into_fused"), before);
  Product activated;
  activated.g.graph.nodes[0].attributes.set("activation", "relu");
  activated.g.Output(
      activated.g.Op("y", "Add", {activated.m, activated.g.Input("r", {2, 4})}, {2, 4}));
  before = activated.g.Text();
  EXPECT_EQ(activated.g.After("fuse_residual_into_fused"), before);
}

/// The attributes of the fused node after y = op(m, ...).
std::string Activated(const char* op, Attributes attributes = {},
                      const std::vector<double>& bounds = {}) {
  Product p;
  std::vector<ir::ValueId> inputs = {p.m};
  for (double bound : bounds) inputs.push_back(p.g.Scalar(bound));
  p.g.Output(p.g.Op("y", op, inputs, {2, 4}, std::move(attributes)));
  std::string text = Lowered(p.g, {"fuse_activation_into_fused"});
  const std::string start = "  y = FusedMatMul(x, w) ";
  if (!text.starts_with(start)) return text;
  return text.substr(start.size(), text.find(" trans_b") - start.size());
}

TEST(FuseActivationIntoFusedTest, KnowsEveryActivation) {
  EXPECT_EQ(Activated("Relu"), "activation=\"relu\"");
  EXPECT_EQ(Activated("Sigmoid"), "activation=\"sigmoid\"");
  EXPECT_EQ(Activated("Tanh"), "activation=\"tanh\"");
  EXPECT_EQ(Activated("HardSwish"), "activation=\"hardswish\"");
  EXPECT_EQ(Activated("Swish"), "activation=\"silu\"");
  EXPECT_EQ(Activated("Gelu"), "activation=\"gelu_erf\"");
  EXPECT_EQ(Activated("Gelu", {{"approximate", "tanh"}}), "activation=\"gelu_tanh\"");
  EXPECT_EQ(Activated("LeakyRelu", {{"alpha", 0.25F}}), "activation=\"leaky_relu\" alpha=0.25");
  EXPECT_EQ(Activated("Clip", {}, {0, 6}), "activation=\"clip\" max=6 min=0");
  EXPECT_EQ(Activated("Clip", {}, {-1}), "activation=\"clip\" max=inf min=-1");
}

TEST(FuseActivationIntoFusedTest, FindsGates) {
  for (const bool gate_first : {false, true}) {
    Product p;
    const auto s = p.g.Op("s", "Sigmoid", {p.m}, {2, 4});
    p.g.Output(p.g.Op("y", "Mul", gate_first ? std::vector{s, p.m} : std::vector{p.m, s}, {2, 4}));
    EXPECT_EQ(
        Lowered(p.g, {"fuse_activation_into_fused"}),
        "  y = FusedMatMul(x, w) activation=\"silu\" trans_b=0 : float32[2, 4]\n  return y\n");
  }
  Product p;
  const auto h = p.g.Op("h", "HardSigmoid", {p.m}, {2, 4}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
  p.g.Output(p.g.Op("y", "Mul", {p.m, h}, {2, 4}));
  EXPECT_EQ(
      Lowered(p.g, {"fuse_activation_into_fused"}),
      "  y = FusedMatMul(x, w) activation=\"hardswish\" trans_b=0 : float32[2, 4]\n  return y\n");
}

TEST(FuseActivationIntoFusedTest, ComesBeforeWhatOnlyMovesElements) {
  const std::map<std::string, std::pair<const char*, Attributes>> gates = {
      {"silu", {"Sigmoid", {}}},
      {"hardswish", {"HardSigmoid", {{"alpha", 1.0F / 6}, {"beta", 0.5F}}}}};
  for (const auto& [name, gate] : gates) {
    Product p;
    const auto t = p.g.Op("t", "Transpose", {p.m}, {4, 2}, {{"perm", Ints{1, 0}}});
    const auto r = p.g.Op("r", "Reshape", {t}, {2, 2, 2}, {{"shape", Ints{2, 2, 2}}});
    const auto s = p.g.Op("s", gate.first, {r}, {2, 2, 2}, gate.second);
    p.g.Output(p.g.Op("y", "Mul", {r, s}, {2, 2, 2}));
    EXPECT_EQ(Lowered(p.g, {"fuse_activation_into_fused"}),
              "  y_node_1_1:0 = FusedMatMul(x, w) activation=\"" + name +
                  "\" trans_b=0 : float32[2, 4]\n"
                  "  y_node_1:0 = Transpose(y_node_1_1:0) perm=[1, 0] : float32[4, 2]\n"
                  "  y = Reshape(y_node_1:0) shape=[2, 2, 2] : float32[2, 2, 2]\n  return y\n");
  }
}

TEST(FuseActivationIntoFusedTest, StaysBehindWhatOthersRead) {
  for (const bool reads_product : {false, true}) {
    Product p;
    const auto t = p.g.Op("t", "Transpose", {p.m}, {4, 2}, {{"perm", Ints{1, 0}}});
    p.g.Output(p.g.Op("y", "Relu", {t}, {4, 2}));
    p.g.Output(reads_product ? p.m : t);
    const std::string before = p.g.Text();
    EXPECT_EQ(p.g.After("fuse_activation_into_fused"), before);
  }
}

TEST(FuseActivationIntoFusedTest, StaysBehindWhereItCannotBeFused) {
  Product p;
  const auto t = p.g.Op("t", "Transpose", {p.m}, {4, 2}, {{"perm", Ints{1, 0}}});
  p.g.Output(p.g.Op("y", "HardSigmoid", {t}, {4, 2}));
  const std::string before = p.g.Text();
  EXPECT_EQ(p.g.After("fuse_activation_into_fused"), before);
}

TEST(FuseActivationIntoFusedTest, LeavesValuesWithOtherUsesAndRunTimeBounds) {
  Product used;
  used.g.Output(used.g.Op("y", "Relu", {used.m}, {2, 4}));
  used.g.Output(used.m);
  std::string before = used.g.Text();
  EXPECT_EQ(used.g.After("fuse_activation_into_fused"), before);
  Product bounds;
  bounds.g.Output(bounds.g.Op("y", "Clip", {bounds.m, bounds.g.Input("low", Shape{})}, {2, 4}));
  before = bounds.g.Text();
  EXPECT_EQ(bounds.g.After("fuse_activation_into_fused"), before);
}

TEST(LowerToBatchedMatmulTest, AbsorbsTheExchangeOfTheLastTwoAxes) {
  GraphForTest g;
  const auto b =
      g.Op("bt", "Transpose", {g.Input("b", {2, 5, 4})}, {2, 4, 5}, {{"perm", Ints{0, 2, 1}}});
  g.Output(g.Op("y", "MatMul", {g.Input("a", {2, 3, 4}), b}, {2, 3, 5}));
  EXPECT_EQ(Lowered(g, {"lower_to_batched_matmul"}),
            "  y = BatchMatMul(a, b) scale=1 trans_b=1 : float32[2, 3, 5]\n  return y\n");
}

TEST(LowerToBatchedMatmulTest, LeavesTheContiguousPartOfATranspose) {
  GraphForTest g;  // keys [batch, sequence, heads, depth] as attention has them
  const auto k = g.Op("kt", "Transpose", {g.Input("k", {1, 5, 2, 4})}, {1, 2, 4, 5},
                      {{"perm", Ints{0, 2, 3, 1}}});
  g.Output(g.Op("y", "MatMul", {g.Input("q", {1, 2, 3, 4}), k}, {1, 2, 3, 5}));
  EXPECT_EQ(Lowered(g, {"lower_to_batched_matmul"}),
            "  kt_node_1:0 = Transpose(k) perm=[0, 2, 1, 3] : float32[1, 2, 5, 4]\n"
            "  y = BatchMatMul(q, kt_node_1:0) scale=1 trans_b=1 : float32[1, 2, 3, 5]\n"
            "  return y\n");
}

TEST(LowerToBatchedMatmulTest, TakesGemmsOfRunTimeMatrices) {
  GraphForTest g;
  const auto a = g.Input("a", {4, 3});
  const auto b = g.Input("b", {5, 4});
  const Attributes attributes{
      {"alpha", 0.5F}, {"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}};
  g.Output(g.Op("y", "Gemm", {a, b, g.Input("c", {5})}, {3, 5}, attributes));
  g.Output(g.Op("z", "Gemm", {g.Input("d", {3, 4}), b}, {3, 5}, {{"transB", std::int64_t{1}}}));
  EXPECT_EQ(
      Lowered(g, {"lower_to_batched_matmul"}),
      "  y_node_transpose:0 = Transpose(a) perm=[1, 0] : float32[3, 4]\n"
      "  y_node_1:0 = BatchMatMul(y_node_transpose:0, b) scale=0.5 trans_b=1 : float32[3, 5]\n"
      "  y = Add(y_node_1:0, c) : float32[3, 5]\n"
      "  z = BatchMatMul(d, b) scale=1 trans_b=1 : float32[3, 5]\n"
      "  return y, z\n");
}

TEST(LowerToBatchedMatmulTest, MakesMatricesOfVectors) {
  GraphForTest g;
  g.Output(g.Op("r", "MatMul", {g.Input("a", {3}), g.Input("b", {5, 3, 2})}, {5, 2}));
  g.Output(g.Op("c", "MatMul", {g.Input("d", {5, 2, 3}), g.Input("e", {3})}, {5, 2}));
  g.Output(g.Op("s", "MatMul", {g.Input("f", {3}), g.Input("g", {3})}, Shape{}));
  EXPECT_EQ(Lowered(g, {"lower_to_batched_matmul"}),
            "  r_node_row:0 = Reshape(a) shape=[1, 3] : float32[1, 3]\n"
            "  r_node_1:0 = BatchMatMul(r_node_row:0, b) scale=1 trans_b=0 : float32[5, 1, 2]\n"
            "  r = Reshape(r_node_1:0) shape=[5, 2] : float32[5, 2]\n"
            "  c_node_column:0 = Reshape(e) shape=[3, 1] : float32[3, 1]\n"
            "  c_node_1:0 = BatchMatMul(d, c_node_column:0) scale=1 trans_b=0 : float32[5, 2, 1]\n"
            "  c = Reshape(c_node_1:0) shape=[5, 2] : float32[5, 2]\n"
            "  s_node_row:0 = Reshape(f) shape=[1, 3] : float32[1, 3]\n"
            "  s_node_column:0 = Reshape(g) shape=[3, 1] : float32[3, 1]\n"
            "  s_node_1:0 = BatchMatMul(s_node_row:0, s_node_column:0) scale=1 trans_b=0 : "
            "float32[1, 1]\n"
            "  s = Reshape(s_node_1:0) shape=[] : float32[]\n"
            "  return r, c, s\n");
}

TEST(LowerToBatchedMatmulTest, ReshapesConstantVectorsAtOnce) {
  GraphForTest g;
  const auto w = g.Constant("w", {3}, {1, 2, 3});
  g.Output(g.Op("y", "MatMul", {g.Input("x", {2, 3}), w}, {2}));
  Lowered(g, {"lower_to_batched_matmul"});
  const ir::Node& product = g.graph.nodes[0];
  ASSERT_EQ(product.op, "BatchMatMul");
  const Tensor* column = g.graph.ConstantOf(product.inputs[1]);
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->shape(), (Shape{3, 1}));
  EXPECT_EQ(ToDoubles(*column), (std::vector<double>{1, 2, 3}));
}

TEST(LowerToBatchedMatmulTest, LeavesIntegers) {
  GraphForTest g;
  const TensorType ints{ElementType::kInt32, {2, 2}};
  const auto i = g.Op("i", "MatMul", {g.Input("c", ints), g.Input("d", ints)}, ints);
  g.Output(i);
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_to_batched_matmul"), before);
}

TEST(FuseScaleIntoBatchedMatmulTest, TakesScalarFactors) {
  GraphForTest g;
  const auto m = g.Op("m", "BatchMatMul", {g.Input("a", {2, 3}), g.Input("b", {3, 2})}, {2, 2},
                      {{"scale", 1.0F}, {"trans_b", std::int64_t{0}}});
  const auto d = g.Op("d", "Div", {m, g.Scalar(8)}, {2, 2});
  g.Output(g.Op("y", "Mul", {g.Scalar(2), d}, {2, 2}));
  EXPECT_EQ(Lowered(g, {"fuse_scale_into_batched_matmul"}),
            "  y = BatchMatMul(a, b) scale=0.25 trans_b=0 : float32[2, 2]\n  return y\n");
}

TEST(FuseScaleIntoBatchedMatmulTest, LeavesVectorsAndOtherUses) {
  GraphForTest g;
  const auto m = g.Op("m", "BatchMatMul", {g.Input("a", {2, 3}), g.Input("b", {3, 2})}, {2, 2});
  const auto y = g.Op("y", "Mul", {m, g.Constant("v", {2}, {1, 2})}, {2, 2});
  const auto n = g.Op("n", "BatchMatMul", {g.Input("c", {2, 3}), g.Input("d", {3, 2})}, {2, 2});
  g.Output(y);
  g.Output(n);
  g.Output(g.Op("z", "Mul", {n, g.Scalar(2)}, {2, 2}));
  g.Output(
      g.Op("q", "Div",
           {g.Scalar(2), g.Op("o", "BatchMatMul", {g.graph.inputs[0], g.graph.inputs[1]}, {2, 2})},
           {2, 2}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_scale_into_batched_matmul"), before);
}

}  // namespace
}  // namespace poprt::passes
