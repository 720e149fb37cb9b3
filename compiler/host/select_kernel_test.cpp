#include "compiler/host/select_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace poprt::host {
namespace {

/// The operator with an input of that shape and weights that are all `weight`.
KernelChoice Select(std::string_view op, Shape x, Shape w, float weight, Shape y,
                    Attributes attributes) {
  ir::Graph graph;
  Tensor weights({ElementType::kFloat32, std::move(w)});
  std::ranges::fill(weights.as_mutable<float>(), weight);
  const ir::ValueId input = graph.AddValue("x", {ElementType::kFloat32, std::move(x)});
  const ir::ValueId constant = graph.AddConstant("w", weights);
  const ir::Node node = graph.MakeNode(op, {input, constant}, {ElementType::kFloat32, std::move(y)},
                                       std::move(attributes), "y");
  return SelectKernel(graph, node).value();
}

KernelChoice SelectWinograd(float weight) {
  return Select("BlockedConv", {1, 2, 8, 8, 16}, {40, 32, 3, 3}, weight, {1, 3, 8, 8, 16},
                {{"winograd_tile", std::int64_t{2}},
                 {"short_weights", std::int64_t{1}},
                 {"kernel_shape", Ints{3, 3}},
                 {"in_channels", std::int64_t{32}},
                 {"out_channels", std::int64_t{40}}});
}

TEST(SelectKernelTest, ShortWeightsAreShortenedAsTheKernelReadsThem) {
  const KernelChoice product =
      Select("FusedMatMul", {1, 32}, {32, 40}, 0.1F, {1, 40}, {{"short_weights", std::int64_t{1}}});
  EXPECT_EQ(product.kernel, "gemm");
  EXPECT_EQ(product.operands[1].packed->type(), (TensorType{ElementType::kUint32, {3, 24, 16}}));
  EXPECT_FALSE(product.attributes.has("short_weights"));

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
