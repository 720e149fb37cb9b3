#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"
#include "compiler/frontend/upgrade/upgrade.hpp"

namespace poprt::frontend {
namespace {

/// Imports a model whose input x of that shape goes into nodes that make y.
std::string Upgraded(int opset, const std::vector<std::string>& x, const std::string& nodes) {
  return TextOf(ImportText(InputText("x", x) + OutputText("y") + nodes, opset));
}

std::string OneLine(const std::string& body) { return "graph m(x)\n  " + body + "\n  return y\n"; }

TEST(UpgradeVision, CenterCropPadSlicesAndPads) {
  const auto node = [](const std::vector<std::int64_t>& shape, const std::string& rest) {
    return IntsText("s", shape, {static_cast<std::int64_t>(shape.size())}) +
           NodeText("CenterCropPad", {"x", "s"}, {"y"}, "name: \"c\" " + rest);
  };
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({2, 5}, "")),
            OneLine("y = Slice(x) axes=[0, 1] ends=[3, 6] starts=[1, 1] : float32[2, 5]"));
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({8}, IntsAttribute("axes", {-2}))),
            OneLine("y = Pad(x) axes=[0] pads=[1, 2] : float32[8, 8]"));
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({6, 3}, "")),
            "graph m(x)\n"
            "  c/Slice:0 = Slice(x) axes=[1] ends=[5] starts=[2] : float32[5, 3]\n"
            "  y = Pad(c/Slice:0) axes=[0] pads=[0, 1] : float32[6, 3]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({5, 8}, "")), OneLine("y = Identity(x) : float32[5, 8]"));
  const std::string where =
      "m: node 'c' (CenterCropPad, opset 18, inputs float32[5, 8], int64[1]): ";
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({4}, "")),
            where + "input 1 (shape) has 1 extents for 2 axes");
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({-4}, IntsAttribute("axes", {0}))),
            where + "input 1 (shape) is [-4], extents must not be negative");
  EXPECT_EQ(Upgraded(18, {"5", "8"}, node({4}, IntsAttribute("axes", {2}))),
            where + "attribute 'axes' is [2], it must name axes of float32[5, 8] once each");
}

TEST(UpgradeVision, AffineGridIsAMatrixProduct) {
  const auto node = [](const std::vector<std::int64_t>& size) {
    return IntsText("s", size, {static_cast<std::int64_t>(size.size())}) +
           NodeText("AffineGrid", {"x", "s"}, {"y"}, "name: \"a\"");
  };
  EXPECT_EQ(Upgraded(20, {"1", "2", "3"}, node({1, 7, 4, 5})),
            "graph m(x)\n"
            "  a/Transpose:0 = Transpose(x) perm=[0, 2, 1] : float32[1, 3, 2]\n"
            "  a/MatMul:0 = MatMul(a/pixels, a/Transpose:0) : float32[1, 20, 2]\n"
            "  y = Reshape(a/MatMul:0) allowzero=1 shape=[1, 4, 5, 2] : float32[1, 4, 5, 2]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded(20, {"2", "2", "3"}, node({1, 7, 4, 5})),
            "m: node 'a' (AffineGrid, opset 20, inputs float32[2, 2, 3], int64[4]): input 0 is "
            "float32[2, 2, 3], input 1 (size) is [1, 7, 4, 5], allowed are floats [N, 2, 3] for a "
            "size [N, C, H, W] and [N, 3, 4] for [N, C, D, H, W]");
}

/// The values of a grid made of the identity: the pixels themselves.
std::vector<float> IdentityGrid(const std::vector<std::int64_t>& size, bool align_corners) {
  const auto imported = ImportText(
      FloatsText("t", {1, 0, 0, 0, 1, 0}, {1, 2, 3}) + IntsText("s", size, {4}) + OutputText("y") +
          NodeText("AffineGrid", {"t", "s"}, {"y"},
                   IntAttribute("align_corners", align_corners ? 1 : 0)),
      20);
  if (!imported.ok()) return {};
  const Tensor* grid = imported->graph.ConstantOf(imported->graph.outputs.at(0));
  if (grid == nullptr) return {};
  const auto values = grid->as<float>();
  return {values.begin(), values.end()};
}

TEST(UpgradeVision, AffineGridNamesThePixels) {
  EXPECT_EQ(IdentityGrid({1, 1, 1, 2}, false), (std::vector<float>{-0.5F, 0, 0.5F, 0}));
  EXPECT_EQ(IdentityGrid({1, 1, 2, 1}, false), (std::vector<float>{0, -0.5F, 0, 0.5F}));
  EXPECT_EQ(IdentityGrid({1, 1, 1, 3}, true), (std::vector<float>{-1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(IdentityGrid({1, 1, 2, 2}, true), (std::vector<float>{-1, -1, 1, -1, -1, 1, 1, 1}));
}

TEST(UpgradeVision, RenamesModesOfGridSample) {
  const std::string grid = FloatsText("g", {0, 0}, {1, 1, 1, 2});
  EXPECT_EQ(Upgraded(16, {"1", "1", "2", "2"}, grid + NodeText("GridSample", {"x", "g"}, {"y"})),
            OneLine("y = GridSample(x, g) mode=\"linear\" : float32[1, 1, 1, 1]"));
  EXPECT_EQ(
      Upgraded(16, {"1", "1", "2", "2"},
               grid + NodeText("GridSample", {"x", "g"}, {"y"}, TextAttribute("mode", "bicubic"))),
      OneLine("y = GridSample(x, g) mode=\"cubic\" : float32[1, 1, 1, 1]"));
}

TEST(UpgradeVision, FirstRoiAlignDoesNotMoveRegions) {
  const std::string rest = FloatsText("r", {0, 0, 1, 1}, {1, 4}) + IntsText("b", {0}, {1}) +
                           NodeText("RoiAlign", {"x", "r", "b"}, {"y"});
  EXPECT_EQ(Upgraded(10, {"1", "1", "2", "2"}, rest),
            OneLine("y = RoiAlign(x, r, b) coordinate_transformation_mode=\"output_half_pixel\" : "
                    "float32[1, 1, 1, 1]"));
  EXPECT_EQ(Upgraded(16, {"1", "1", "2", "2"}, rest),
            OneLine("y = RoiAlign(x, r, b) : float32[1, 1, 1, 1]"));
}

}  // namespace
}  // namespace poprt::frontend
