#include "compiler/host/select_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace poprt::host {
namespace {

/// Of a convolution of `side` x `side` taps, by Winograd's algorithm or not, whose weights, all of
/// them `weight`, should be short.
KernelChoice SelectConv(std::int64_t side, std::int64_t winograd_tile, float weight) {
  ir::Graph graph;
  Tensor weights({ElementType::kFloat32, {40, 32, side, side}});
  std::ranges::fill(weights.as_mutable<float>(), weight);
  const ir::ValueId x = graph.AddValue("x", {ElementType::kFloat32, {1, 2, 8, 8, 16}});
  const ir::ValueId w = graph.AddConstant("w", weights);
  const ir::Node node =
      graph.MakeNode("BlockedConv", {x, w}, {ElementType::kFloat32, {1, 3, 8, 8, 16}},
                     {{"winograd_tile", winograd_tile},
                      {"short_weights", std::int64_t{1}},
                      {"kernel_shape", Ints{side, side}},
                      {"pads", Ints{side / 2, side / 2, side / 2, side / 2}},
                      {"in_channels", std::int64_t{32}},
                      {"out_channels", std::int64_t{40}}},
                     "y");
  return SelectKernel(graph, node).value();
}

KernelChoice SelectWinograd(float weight) { return SelectConv(3, 2, weight); }

TEST(SelectKernelTest, FiltersOfWinogradsAlgorithmMayBeScaled) {
  const KernelChoice conv = SelectWinograd(0.1F);
  EXPECT_EQ(conv.kernel, "blocked_winograd_conv2d");
  EXPECT_EQ(conv.operands[1].packed->type(), (TensorType{ElementType::kInt32, {3, 16, 17, 16}}));
  EXPECT_FALSE(conv.attributes.has("short_weights"));
}

TEST(SelectKernelTest, FiltersOfDirectConvolutionsMayBeScaled) {
  const KernelChoice direct = SelectConv(3, 0, 0.1F);
  EXPECT_EQ(direct.kernel, "blocked_conv2d");
  EXPECT_EQ(direct.operands[1].packed->type(),
            (TensorType{ElementType::kInt32, {1, 3, 144 + 5, 16}}));
  EXPECT_FALSE(direct.attributes.has("short_weights"));
  const KernelChoice pointwise = SelectConv(1, 0, 0.1F);
  EXPECT_EQ(pointwise.kernel, "blocked_pointwise_conv2d");
  EXPECT_EQ(pointwise.operands[1].packed->type(),
            (TensorType{ElementType::kInt32, {3, 16 + 1, 16}}));
  // Too large to be scaled.
  EXPECT_EQ(SelectConv(3, 0, 0x1p100F).operands[1].packed->element(), ElementType::kFloat32);
  EXPECT_EQ(SelectConv(1, 0, 0x1p100F).operands[1].packed->element(), ElementType::kFloat32);
}

TEST(SelectKernelTest, TransformedFiltersThatAreTooLargeStay) {
  EXPECT_EQ(SelectWinograd(0x1.8p126F).operands[1].packed->type(),
            (TensorType{ElementType::kFloat32, {3, 16, 32, 16}}));
}

}  // namespace
}  // namespace poprt::host
