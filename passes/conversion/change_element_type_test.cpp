#include "passes/conversion/change_element_type.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "passes/graph_for_test.hpp"

/// double_to_float, int64_to_int32, float_to_half and final_check.
namespace poprt::passes {
namespace {

using E = ElementType;

struct Warnings {
  std::vector<std::string> messages;
  PassContext Context() {
    PassContext context;
    context.warn = [this](const std::string& message) { messages.push_back(message); };
    return context;
  }
};

std::vector<double> ConstantValues(const ir::Graph& graph, std::string_view name) {
  for (const ir::Value& value : graph.values()) {
    if (value.name == name && value.constant) return ToDoubles(*value.constant);
  }
  return {};
}

TEST(DoubleToFloatTest, ChangesEverythingAndClips) {
  GraphForTest g(E::kFloat64);
  const auto a = g.Op("a", "Add", {g.Input("x", {2}), g.Constant("w", {2}, {1e300, 0.5})}, {2});
  g.Output(g.Op("y", "Cast", {a}, {2}, {{"to", std::int64_t{11}}}));
  Warnings warnings;
  EXPECT_EQ(g.After("double_to_float", warnings.Context()),
            "  a = Add(x, w) : float32[2]\n"
            "  y = Cast(a) to=1 : float32[2]\n"
            "  return y\n");
  EXPECT_EQ(g.graph.type(g.graph.inputs[0]).element, E::kFloat32);
  EXPECT_EQ(ConstantValues(g.graph, "w"),
            (std::vector<double>{std::numeric_limits<float>::max(), 0.5}));
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_NE(warnings.messages[0].find("'w'"), std::string::npos);
}

TEST(Int64ToInt32Test, ExtentsOfOutputsFollow) {
  GraphForTest g;
  const TensorType places{E::kInt64, {1, 6}};
  g.Output(g.Op("p", "NonZero", {g.Input("x", {6})}, places));
  const ir::ValueId count = g.graph.AddValue("n", {E::kInt64, {}});
  g.graph.nodes.back().outputs.push_back(count);
  g.graph.extents = {{.output = 0, .axis = 1, .count = count}};
  EXPECT_EQ(g.After("int64_to_int32"),
            "  p_int64, n_int64 = NonZero(x) : int64[1, 6]\n"
            "  p = Cast(p_int64) to=6 : int32[1, 6]\n"
            "  n = Cast(n_int64) to=6 : int32[]\n"
            "  return p\n"
            "  output 0 axis 1 up to n\n");
}

TEST(Int64ToInt32Test, CastsResultsThatOnnxFixesToInt64) {
  GraphForTest g;
  const TensorType index{E::kInt64, {2}};
  const auto best = g.Op("best", "ArgMax", {g.Input("x", {2, 3})}, index,
                         {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  g.Output(g.Op("y", "Add", {best, g.Input("i", index)}, index));
  EXPECT_EQ(g.After("int64_to_int32"),
            "  best_int64 = ArgMax(x) axis=1 keepdims=0 : int64[2]\n"
            "  best = Cast(best_int64) to=6 : int32[2]\n"
            "  y = Add(best, i) : int32[2]\n"
            "  return y\n");
  EXPECT_EQ(g.After("final_check"), g.Text());
}

TEST(Int64ToInt32Test, CastsIndicesThatOnnxFixesToInt64) {
  GraphForTest g;
  const auto index = g.Input("i", {E::kInt64, {2, 1}});
  g.Output(g.Op("y", "GatherND", {g.Input("x", {5}), index}, {2}));
  g.After("int64_to_int32");
  EXPECT_EQ(g.graph.type(index).element, E::kInt32);
  ASSERT_EQ(g.graph.nodes.size(), 2U);
  EXPECT_EQ(g.graph.nodes[0].op, "Cast");
  EXPECT_EQ(g.graph.type(g.graph.nodes[1].inputs[1]).element, E::kInt64);
  EXPECT_EQ(g.After("final_check"), g.Text());
}

TEST(Int64ToInt32Test, WarnsOfClippedValuesButNotOfSentinels) {
  GraphForTest g(E::kInt64);
  const auto a = g.Op("a", "Add", {g.Input("x", {2}), g.Constant("big", {2}, {0x1p40, 3})}, {2});
  Tensor end({E::kInt64, {}});
  end.as_mutable<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::max();
  const auto low = g.Constant("low", {1}, {-0x1p40});
  g.Output(g.Op("y", "Min", {a, g.graph.AddConstant("end", end), low}, {2}));
  Warnings warnings;
  g.After("int64_to_int32", warnings.Context());
  EXPECT_EQ(warnings.messages,
            (std::vector<std::string>{
                "model 'g': constant 'big' holds 1099511627776 (and 1 more), clipped to "
                "the range of int32; what is computed of it differs unless int64 is kept: "
                "--skip_passes int64_to_int32"}));
  EXPECT_EQ(ConstantValues(g.graph, "big"), (std::vector<double>{2147483647, 3}));
  EXPECT_EQ(ConstantValues(g.graph, "end"), (std::vector<double>{2147483647}));
}

TEST(FloatToHalfTest, ChangesInputsConstantsAndOutputs) {
  GraphForTest g;
  g.Output(g.Op("y", "Add", {g.Input("x", {2}), g.Constant("w", {2}, {0.1, 1e-9})}, {2}));
  Warnings warnings;
  EXPECT_EQ(g.After("float_to_half", warnings.Context()),
            "  y = Add(x, w) : float16[2]\n  return y\n");
  EXPECT_EQ(g.graph.type(g.graph.inputs[0]).element, E::kFloat16);
  EXPECT_EQ(ConstantValues(g.graph, "w"), (std::vector<double>{0.0999755859375, 0}));
  EXPECT_TRUE(warnings.messages.empty());
}

TEST(FloatToHalfTest, ClipsAndRaisesWithOneWarningEach) {
  GraphForTest g;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto a =
      g.Op("a", "Add", {g.Input("x", {3}), g.Constant("w", {3}, {1e30, -7e4, -kInfinity})}, {3});
  g.Output(g.Op("y", "Add", {a, g.Constant("eps", {1}, {1e-12})}, {3}));
  Warnings warnings;
  g.After("float_to_half", warnings.Context());
  EXPECT_EQ(
      warnings.messages,
      (std::vector<std::string>{
          "model 'g': constant 'w' holds 1e+30, clipped to 65504, the limit of float16",
          "model 'g': constant 'eps' holds 1e-12, raised to 5.96046e-08, the smallest float16"}));
  EXPECT_EQ(ConstantValues(g.graph, "w"), (std::vector<double>{65504, -65504, -kInfinity}));
  EXPECT_EQ(ConstantValues(g.graph, "eps"), (std::vector<double>{0x1p-24}));
}

TEST(FloatToHalfTest, SkippedOperatorsStandBetweenSingleCasts) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  const auto a = g.Op("a", "Relu", {x}, {2});
  const auto s = g.Op("s", "Softmax", {a}, {2});
  const auto t = g.Op("t", "Softmax", {s}, {2});
  const auto u = g.Op("u", "Softmax", {a}, {2});
  g.Output(g.Op("y", "Add", {t, u}, {2}));
  PassContext context;
  context.fp16_skip_op_types = {"Softmax"};
  EXPECT_EQ(g.After("float_to_half", context),
            "  a = Relu(x) : float16[2]\n"
            "  a_float32 = Cast(a) to=1 : float32[2]\n"
            "  s_float32 = Softmax(a_float32) : float32[2]\n"
            "  t_float32 = Softmax(s_float32) : float32[2]\n"
            "  t = Cast(t_float32) to=10 : float16[2]\n"
            "  u_float32 = Softmax(a_float32) : float32[2]\n"
            "  u = Cast(u_float32) to=10 : float16[2]\n"
            "  y = Add(t, u) : float16[2]\n"
            "  return y\n");
  EXPECT_EQ(g.After("final_check"), g.Text());
}

TEST(FloatToHalfTest, SkippedOperatorsReadExactConstantsWithoutWarning) {
  GraphForTest g;
  g.Output(g.Op("y", "Add", {g.Input("x", {1}), g.Constant("w", {1}, {1e30})}, {1}));
  Warnings warnings;
  PassContext context = warnings.Context();
  context.fp16_skip_op_types = {"Add"};
  EXPECT_EQ(g.After("float_to_half", context),
            "  x_float32 = Cast(x) to=1 : float32[1]\n"
            "  y_float32 = Add(x_float32, w_float32) : float32[1]\n"
            "  y = Cast(y_float32) to=10 : float16[1]\n"
            "  return y\n");
  EXPECT_EQ(ConstantValues(g.graph, "w_float32"), (std::vector<double>{double{1e30F}}));
  EXPECT_TRUE(warnings.messages.empty());
}

TEST(FloatToHalfTest, NamesUnknownOperators) {
  GraphForTest g;
  PassContext context;
  context.fp16_skip_op_types = {"SoftMax", "Relu", "Nonsense"};
  EXPECT_EQ(g.After("float_to_half", context),
            "fp16_skip_op_types names operators that do not exist: 'Nonsense', 'SoftMax' (did you "
            "mean 'Softmax'?)");
}

TEST(FinalCheckTest, ListsEveryNodeThatDoesNotFit) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  g.Output(g.Op("a", "Relu", {x}, {3}));
  g.Output(g.Op("b", "Add", {x, g.Input("z", {3})}, {3}));
  g.Output(g.Op("c", "FusedMatMul", {x}, {7}));
  const std::string problems = g.After("final_check");
  EXPECT_NE(problems.find("node 'a_node' (Relu): output 0 'a' is float32[3], its operator gives "
                          "float32[2]"),
            std::string::npos)
      << problems;
  EXPECT_NE(problems.find("node 'b_node' (Add): "), std::string::npos) << problems;
  EXPECT_EQ(problems.find("c_node"), std::string::npos) << problems;
}

}  // namespace
}  // namespace poprt::passes
