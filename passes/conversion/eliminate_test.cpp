#include <gtest/gtest.h>

#include "passes/graph_for_test.hpp"

/// The passes eliminate_*, which take away and add nothing.
namespace poprt::passes {
namespace {

/// y = Relu(<op>(x)) for an x of that type.
GraphForTest Around(const char* op, TensorType in, TensorType out, Attributes attributes = {}) {
  GraphForTest g;
  const auto x = g.Input("x", std::move(in));
  const TensorType result = out;
  const auto mid = g.Op("mid", op, {x}, std::move(out), std::move(attributes));
  g.Output(g.Op("y", "Relu", {mid}, result));
  return g;
}

TensorType F32(Shape shape) { return {ElementType::kFloat32, std::move(shape)}; }

const char* const kOnlyRelu2x3 =
    "  y = Relu(x) : float32[2, 3]\n"
    "  return y\n";

TEST(EliminateNopTest, RemovesWhatChangesNothing) {
  const TensorType type = F32({2, 3});
  EXPECT_EQ(Around("Cast", type, type, {{"to", std::int64_t{1}}}).After("eliminate_nop_cast"),
            kOnlyRelu2x3);
  EXPECT_EQ(Around("Expand", type, type, {{"shape", Ints{1, 3}}}).After("eliminate_nop_expand"),
            kOnlyRelu2x3);
  EXPECT_EQ(Around("Flatten", type, type).After("eliminate_nop_flatten"), kOnlyRelu2x3);
  EXPECT_EQ(Around("Pad", type, type, {{"pads", Ints{0, 0, 0, 0}}}).After("eliminate_nop_pad"),
            kOnlyRelu2x3);
  EXPECT_EQ(Around("Reshape", type, type, {{"shape", Ints{2, 3}}}).After("eliminate_nop_reshape"),
            kOnlyRelu2x3);
  EXPECT_EQ(Around("Slice", type, type, {{"starts", Ints{0}}, {"ends", Ints{9}}})
                .After("eliminate_nop_slice"),
            kOnlyRelu2x3);
  EXPECT_EQ(
      Around("Transpose", type, type, {{"perm", Ints{0, 1}}}).After("eliminate_nop_transpose"),
      kOnlyRelu2x3);
  EXPECT_EQ(Around("Identity", type, type).After("eliminate_identity"), kOnlyRelu2x3);
  EXPECT_EQ(Around("Dropout", type, type).After("eliminate_identity"), kOnlyRelu2x3);
}

TEST(EliminateNopTest, KeepsWhatChangesSomething) {
  const auto keeps = [](const char* pass, GraphForTest g) {
    const std::string before = g.Text();
    EXPECT_EQ(g.After(pass), before);
  };
  keeps("eliminate_nop_cast",
        Around("Cast", F32({2}), {ElementType::kFloat16, {2}}, {{"to", std::int64_t{10}}}));
  keeps("eliminate_nop_expand", Around("Expand", F32({1}), F32({3}), {{"shape", Ints{3}}}));
  keeps("eliminate_nop_flatten", Around("Flatten", F32({2, 1, 3}), F32({2, 3})));
  // The shape stays, the elements move.
  keeps("eliminate_nop_pad", Around("Pad", F32({4}), F32({4}), {{"pads", Ints{1, -1}}}));
  keeps("eliminate_nop_slice",
        Around("Slice", F32({4}), F32({4}),
               {{"starts", Ints{3}}, {"ends", Ints{-9}}, {"steps", Ints{-1}}}));
  keeps("eliminate_nop_slice",
        Around("Slice", F32({4}), F32({3}), {{"starts", Ints{0}}, {"ends", Ints{3}}}));
  keeps("eliminate_nop_reshape", Around("Reshape", F32({6}), F32({2, 3}), {{"shape", Ints{2, 3}}}));
  keeps("eliminate_nop_transpose",
        Around("Transpose", F32({2, 2}), F32({2, 2}), {{"perm", Ints{1, 0}}}));
}

TEST(EliminateNopTransposeTest, MovesOfSingleElementsAreNothing) {
  EXPECT_EQ(Around("Transpose", F32({1, 1, 5}), F32({1, 1, 5}), {{"perm", Ints{1, 0, 2}}})
                .After("eliminate_nop_transpose"),
            "  y = Relu(x) : float32[1, 1, 5]\n  return y\n");
}

TEST(EliminateIdentityTest, KeepsOutputNames) {
  GraphForTest g;
  g.Output(g.Op("y", "Identity", {g.Input("x", {2})}, {2}));
  EXPECT_EQ(g.After("eliminate_identity"), "  return x\n");
  EXPECT_EQ(g.graph.output_names, std::vector<std::string>{"y"});
}

TEST(EliminateIdentityTest, KeepsDropoutWhoseMaskIsUsed) {
  GraphForTest g = Around("Dropout", F32({2}), F32({2}));
  g.graph.nodes[0].outputs.push_back(g.graph.AddValue("mask", {ElementType::kBool, {2}}));
  g.Output(g.graph.nodes[0].outputs[1]);
  const std::string before = g.Text();
  EXPECT_EQ(g.After("eliminate_identity"), before);
}

/// Whether <op>(x, c) of float32[2] goes.
bool Removed(const char* op, double c, bool constant_left = false, Shape shape = {}) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  const std::size_t count = static_cast<std::size_t>(ElementCount(shape));
  const Shape out = *Broadcast(shape, {2});
  const auto constant = g.Constant("c", std::move(shape), std::vector<double>(count, c));
  g.Output(g.Op("y", op, constant_left ? std::vector{constant, x} : std::vector{x, constant}, out));
  g.After("eliminate_nop_arithmetic");
  return g.graph.nodes.empty();
}

TEST(EliminateNopArithmeticTest, RemovesNeutralOperands) {
  EXPECT_TRUE(Removed("Mul", 1));
  EXPECT_TRUE(Removed("Mul", 1, true));
  EXPECT_TRUE(Removed("Mul", 1, false, {1}));
  EXPECT_TRUE(Removed("Div", 1));
  EXPECT_TRUE(Removed("Pow", 1));
  EXPECT_TRUE(Removed("Sub", 0));
  EXPECT_TRUE(Removed("Add", -0.0));
}

TEST(EliminateNopArithmeticTest, KeepsOthers) {
  EXPECT_FALSE(Removed("Add", 0.0)) << "-0 + 0 is +0";
  EXPECT_FALSE(Removed("Sub", -0.0));
  EXPECT_FALSE(Removed("Sub", 0, true));
  EXPECT_FALSE(Removed("Div", 1, true));
  EXPECT_FALSE(Removed("Pow", 1, true));
  EXPECT_FALSE(Removed("Mul", 2));
  EXPECT_FALSE(Removed("Mul", 1, false, {1, 1})) << "the rank grows";
}

TEST(EliminateNopArithmeticTest, AddingZeroToIntegersIsNothing) {
  GraphForTest g(ElementType::kInt32);
  g.Output(g.Op("y", "Add", {g.Input("x", {2}), g.Scalar(0)}, {2}));
  EXPECT_EQ(g.After("eliminate_nop_arithmetic"), "  return x\n");
}

TEST(EliminateDeadendTest, RemovesUnusedNodes) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  g.Op("dead2", "Exp", {g.Op("dead1", "Exp", {x}, {2})}, {2});
  g.Output(g.Op("y", "Relu", {x}, {2}));
  EXPECT_EQ(g.After("eliminate_deadend"), "  y = Relu(x) : float32[2]\n  return y\n");
}

TEST(EliminateUnusedInitializerTest, RemovesConstantsNobodyReads) {
  GraphForTest g;
  g.Constant("unused", {1}, {1});
  g.Output(g.Op("y", "Add", {g.Input("x", {2}), g.Constant("used", {2}, {1, 2})}, {2}));
  g.After("eliminate_unused_initializer");
  EXPECT_EQ(g.graph.values().size(), 3U);
}

TEST(EliminateDuplicateInitializerTest, KeepsTheFirstOfEqualConstants) {
  GraphForTest g;
  const auto a = g.Op("a", "Add", {g.Input("x", {2}), g.Constant("c1", {2}, {1, 2})}, {2});
  const auto b = g.Op("b", "Mul", {a, g.Constant("c2", {2}, {1, 2})}, {2});
  const auto c = g.Op("d", "Mul", {b, g.Constant("c3", {1, 2}, {1, 2})}, {1, 2});
  g.Output(g.Op("y", "Mul", {c, g.Constant("c4", {2}, {1, 3})}, {1, 2}));
  EXPECT_EQ(g.After("eliminate_duplicate_initializer"),
            "  a = Add(x, c1) : float32[2]\n"
            "  b = Mul(a, c1) : float32[2]\n"
            "  d = Mul(b, c3) : float32[1, 2]\n"
            "  y = Mul(d, c4) : float32[1, 2]\n"
            "  return y\n");
}

TEST(EliminateDuplicateNodesTest, ComputesEqualNodesOnce) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  const auto a = g.Op("a", "Exp", {g.Op("r1", "Relu", {x}, {2})}, {2});
  const auto b = g.Op("b", "Exp", {g.Op("r2", "Relu", {x}, {2})}, {2});
  g.Output(g.Op("y", "Add", {a, b}, {2}));
  EXPECT_EQ(g.After("eliminate_duplicate_nodes"),
            "  r1 = Relu(x) : float32[2]\n"
            "  a = Exp(r1) : float32[2]\n"
            "  y = Add(a, a) : float32[2]\n"
            "  return y\n");
}

TEST(EliminateDuplicateNodesTest, KeepsDifferentNodes) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  const auto a = g.Op("a", "LeakyRelu", {x}, {2}, {{"alpha", 0.5F}});
  const auto b = g.Op("b", "LeakyRelu", {x}, {2}, {{"alpha", 0.25F}});
  const auto r = g.Op("r", "RandomNormalLike", {x}, {2});
  const auto s = g.Op("s", "RandomNormalLike", {x}, {2});
  g.Output(g.Op("y", "Sum", {a, b, r, s}, {2}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("eliminate_duplicate_nodes"), before);
}

}  // namespace
}  // namespace poprt::passes
