#include "compiler/host/select_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace poprt::host {
namespace {

/// Of a convolution by Winograd's algorithm whose weights, all of them `weight`, should be short.
KernelChoice SelectWinograd(float weight) {
  ir::Graph graph;
  Tensor weights({ElementType::kFloat32, {40, 32, 3, 3}});
  std::ranges::fill(weights.as_mutable<float>(), weight);
  const ir::ValueId x = graph.AddValue("x", {ElementType::kFloat32, {1, 2, 8, 8, 16}});
  const ir::ValueId w = graph.AddConstant("w", weights);
  const ir::Node node =
      graph.MakeNode("BlockedConv", {x, w}, {ElementType::kFloat32, {1, 3, 8, 8, 16}},
                     {{"winograd_tile", std::int64_t{2}},
                      {"short_weights", std::int64_t{1}},
                      {"kernel_shape", Ints{3, 3}},
                      {"in_channels", std::int64_t{32}},
                      {"out_channels", std::int64_t{40}}},
                     "y");
  return SelectKernel(graph, node).value();
}

TEST(SelectKernelTest, FiltersOfWinogradsAlgorithmMayBeShort) {
  const KernelChoice conv = SelectWinograd(0.1F);
  EXPECT_EQ(conv.kernel, "blocked_winograd_conv2d");
  EXPECT_EQ(conv.operands[1].packed->type(), (TensorType{ElementType::kUint32, {3, 16, 24, 16}}));
  EXPECT_FALSE(conv.attributes.has("short_weights"));
}

TEST(SelectKernelTest, TransformedFiltersThatRoundingMightMakeInfiniteStay) {
  EXPECT_EQ(SelectWinograd(0x1.8p126F).operands[1].packed->type(),
            (TensorType{ElementType::kFloat32, {3, 16, 32, 16}}));
}

}  // namespace
}  // namespace poprt::host
