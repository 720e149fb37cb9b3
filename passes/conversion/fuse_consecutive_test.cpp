#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// The passes fuse_consecutive_*.
namespace poprt::passes {
namespace {

using E = ElementType;

/// Casts a value from type to type; how many Casts remain.
std::size_t CastsLeft(const std::vector<E>& types) {
  GraphForTest g;
  auto value = g.Input("x", {types[0], {2}});
  for (std::size_t i = 1; i < types.size(); ++i) {
    value =
        g.Op("c", "Cast", {value}, {types[i], {2}}, {{"to", static_cast<std::int64_t>(types[i])}});
  }
  g.Output(value);
  g.After("fuse_consecutive_cast");
  return g.graph.nodes.size();
}

TEST(FuseConsecutiveCastTest, FusesWhereTheFirstLosesNothing) {
  EXPECT_EQ(CastsLeft({E::kFloat16, E::kFloat32, E::kInt8}), 1U);
  EXPECT_EQ(CastsLeft({E::kUint8, E::kInt32, E::kInt64, E::kFloat32}), 1U);
  EXPECT_EQ(CastsLeft({E::kBool, E::kInt64, E::kFloat16}), 1U);
  EXPECT_EQ(CastsLeft({E::kInt32, E::kFloat64, E::kFloat32}), 1U);
}

TEST(FuseConsecutiveCastTest, KeepsWhatRoundsOrWraps) {
  EXPECT_EQ(CastsLeft({E::kFloat32, E::kFloat16, E::kFloat32}), 2U);
  EXPECT_EQ(CastsLeft({E::kInt32, E::kFloat32, E::kInt64}), 2U);
  EXPECT_EQ(CastsLeft({E::kInt8, E::kUint16, E::kInt32}), 2U);
  EXPECT_EQ(CastsLeft({E::kInt32, E::kBool, E::kFloat32}), 2U);
  EXPECT_EQ(CastsLeft({E::kInt32, E::kFloat64, E::kFloat16}), 2U) << "would round in float32 too";
  EXPECT_EQ(CastsLeft({E::kBFloat16, E::kFloat16, E::kFloat32}), 2U) << "overflows";
}

TEST(FuseConsecutiveCastTest, NarrowTypes) {
  EXPECT_EQ(CastsLeft({E::kFloat8E5M2, E::kFloat16, E::kFloat32}), 1U);
  EXPECT_EQ(CastsLeft({E::kInt4, E::kInt8, E::kFloat32}), 1U);
  EXPECT_EQ(CastsLeft({E::kUint4, E::kInt8, E::kInt4}), 1U);
  EXPECT_EQ(CastsLeft({E::kUint2, E::kInt4, E::kInt64}), 1U);
  EXPECT_EQ(CastsLeft({E::kUint4, E::kInt4, E::kInt64}), 2U);
  EXPECT_EQ(CastsLeft({E::kFloat32, E::kFloat8E5M2, E::kFloat32}), 2U);
  EXPECT_EQ(CastsLeft({E::kFloat4E2M1, E::kFloat8E4M3FNUZ, E::kFloat32}), 2U) << "loses -0";
  EXPECT_EQ(CastsLeft({E::kFloat8E8M0, E::kFloat16, E::kFloat32}), 2U) << "overflows";
}

TEST(FuseConsecutiveReshapeTest, WritesTheShapeOut) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 2, 3});
  const auto a = g.Op("a", "Flatten", {x}, {2, 6}, {{"axis", std::int64_t{1}}});
  const auto b = g.Op("b", "Unsqueeze", {a}, {1, 2, 6}, {{"axes", Ints{0}}});
  g.Output(g.Op("y", "Reshape", {b}, {1, 4, 3}, {{"shape", Ints{0, -1, 3}}}));
  EXPECT_EQ(g.After("fuse_consecutive_reshape"),
            "  y = Reshape(x) shape=[1, -1, 3] : float32[1, 4, 3]\n  return y\n");
}

TEST(FuseConsecutiveReshapeTest, KeepsAnInnerResultThatIsUsed) {
  GraphForTest g;
  const auto a = g.Op("a", "Reshape", {g.Input("x", {6})}, {2, 3}, {{"shape", Ints{2, 3}}});
  g.Output(a);
  g.Output(g.Op("y", "Reshape", {a}, {3, 2}, {{"shape", Ints{3, 2}}}));
  EXPECT_EQ(g.After("fuse_consecutive_reshape"),
            "  a = Reshape(x) shape=[2, 3] : float32[2, 3]\n"
            "  y = Reshape(x) shape=[3, 2] : float32[3, 2]\n"
            "  return a, y\n");
}

TEST(FuseConsecutiveSqueezeTest, CountsAxesInTheFirstInput) {
  GraphForTest g;
  const auto a = g.Op("a", "Squeeze", {g.Input("x", {1, 5, 1, 1})}, {5, 1, 1}, {{"axes", Ints{0}}});
  g.Output(g.Op("y", "Squeeze", {a}, {5, 1}, {{"axes", Ints{-1}}}));
  EXPECT_EQ(g.After("fuse_consecutive_squeeze"),
            "  y = Squeeze(x) axes=[0, 3] : float32[5, 1]\n  return y\n");
}

TEST(FuseConsecutiveSqueezeTest, WithoutAxesAllOnesGo) {
  GraphForTest g;
  const auto a = g.Op("a", "Squeeze", {g.Input("x", {1, 5, 1})}, {5, 1}, {{"axes", Ints{0}}});
  g.Output(g.Op("y", "Squeeze", {a}, {5}));
  EXPECT_EQ(g.After("fuse_consecutive_squeeze"),
            "  y = Squeeze(x) axes=[0, 2] : float32[5]\n  return y\n");
}

TEST(FuseConsecutiveUnsqueezeTest, CountsAxesInTheResult) {
  GraphForTest g;
  const auto a = g.Op("a", "Unsqueeze", {g.Input("x", {2, 3})}, {2, 1, 3}, {{"axes", Ints{1}}});
  g.Output(g.Op("y", "Unsqueeze", {a}, {1, 2, 1, 3}, {{"axes", Ints{0}}}));
  EXPECT_EQ(g.After("fuse_consecutive_unsqueeze"),
            "  y = Unsqueeze(x) axes=[0, 2] : float32[1, 2, 1, 3]\n  return y\n");
}

TEST(FuseConsecutiveTransposeTest, ComposesPermutations) {
  GraphForTest g;
  const auto a =
      g.Op("a", "Transpose", {g.Input("x", {2, 3, 4})}, {3, 4, 2}, {{"perm", Ints{1, 2, 0}}});
  g.Output(g.Op("y", "Transpose", {a}, {2, 4, 3}));
  EXPECT_EQ(g.After("fuse_consecutive_transpose"),
            "  y = Transpose(x) perm=[0, 2, 1] : float32[2, 4, 3]\n  return y\n");
}

/// x after operators with constants, one for each of two channels or one for all.
GraphForTest Affine(const std::vector<std::pair<const char*, std::vector<double>>>& steps) {
  GraphForTest g;
  auto value = g.Input("x", {1, 2, 3});
  for (const auto& [op, values] : steps) {
    const Shape shape = values.size() == 1 ? Shape{} : Shape{2, 1};
    value = g.Op("v", op, {g.Constant("c", shape, values), value}, {1, 2, 3});
  }
  g.Output(value);
  return g;
}

std::string AffineLeft(GraphForTest g) {
  const ir::Graph before = g.graph;
  g.After("fuse_consecutive_affine");
  EXPECT_LE(LargestDifference(before, g.graph), 1e-6);
  std::string ops;
  for (const ir::Node& node : g.graph.nodes) ops += (ops.empty() ? "" : " ") + node.op;
  return ops;
}

TEST(FuseConsecutiveAffineTest, LeavesOneMulAndOneAdd) {
  EXPECT_EQ(AffineLeft(Affine({{"Mul", {2, 3}}, {"Add", {1, -1}}, {"Mul", {0.5}}, {"Add", {4}}})),
            "Mul Add");
  EXPECT_EQ(AffineLeft(Affine({{"Add", {1, 2}}, {"Mul", {2, 3}}, {"Add", {4, 5}}})), "Mul Add");
  EXPECT_EQ(AffineLeft(Affine({{"Mul", {2, 3}}, {"Mul", {4}}})), "Mul");
  EXPECT_EQ(AffineLeft(Affine({{"Add", {2}}, {"Add", {4, 1}}, {"Add", {1, 1}}})), "Add");
}

TEST(FuseConsecutiveAffineTest, LeavesWhatItCannotShorten) {
  EXPECT_EQ(AffineLeft(Affine({{"Mul", {2, 3}}, {"Add", {4}}})), "Mul Add");
  EXPECT_EQ(AffineLeft(Affine({{"Add", {2, 3}}, {"Mul", {4}}})), "Add Mul");
  GraphForTest shared = Affine({{"Mul", {2, 3}}, {"Mul", {4}}});
  shared.Output(shared.graph.nodes[0].outputs[0]);
  EXPECT_EQ(AffineLeft(shared), "Mul Mul");
}

}  // namespace
}  // namespace poprt::passes
