#include "passes/lowering/lower_conv_transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"
#include "runtime/kernels/window/window.hpp"

/// lift_to_image and lower_conv_transpose, alone and with what follows them.
namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

std::string Lowered(GraphForTest& g) {
  const ir::Graph before = g.graph;
  for (const char* pass :
       {"lift_to_image", "lower_conv_transpose", "lower_to_fused", "fuse_activation_into_fused"}) {
    g.After(pass);
  }
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return g.Text();
}

TEST(LowerConvTransposeTest, ComputesPhasesAndPutsThemInPlace) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 3, 4});
  const auto w = g.Constant("w", {2, 3, 4, 4}, WeightsForTest(96));
  const auto y = g.Op("y", "ConvTranspose", {x, w, g.Constant("b", {3}, WeightsForTest(3))},
                      {1, 3, 6, 8}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  g.Output(g.Op("r", "Relu", {y}, {1, 3, 6, 8}));
  EXPECT_EQ(
      Lowered(g),
      "  r_node_1:0 = FusedConv(x, y_node_phases, y_node_bias) activation=\"relu\" dilations=[1, "
      "1] group=1 kernel_shape=[2, 2] pads=[1, 1, 1, 1] strides=[1, 1] : float32[1, 12, 4, "
      "5]\n"
      "  r = SubpixelShuffle(r_node_1:0) blocks=[2, 2] crops=[1, 1] phases_first=1 : float32[1, 3, "
      "6, 8]\n"
      "  return r\n");
}

TEST(LowerConvTransposeTest, ComputesTheSameForAnyWindow) {
  std::minstd_rand random(3);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  int lowered = 0;
  for (int round = 0; round < 120; ++round) {
    SCOPED_TRACE(round);
    const bool image = draw(0, 3) > 0;
    const std::int64_t group = draw(1, 3);
    const Shape extents = image ? Shape{draw(1, 5), draw(1, 6)} : Shape{draw(1, 8)};
    Ints kernel;
    Ints strides;
    Ints pads;
    Ints extra;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      kernel.push_back(draw(1, 5));
      strides.push_back(draw(1, 3));
      extra.push_back(draw(0, strides.back() - 1));
    }
    for (std::size_t i = 0; i < 2 * extents.size(); ++i) {
      pads.push_back(draw(0, kernel[i % extents.size()] - 1));
    }
    const Attributes attributes{
        {"group", group}, {"output_padding", extra}, {"pads", pads}, {"strides", strides}};
    Shape out;
    try {
      out = kernels::ResolveTransposedWindow(attributes, extents, kernel).output;
    } catch (const kernels::KernelError&) {
      continue;  // padded away
    }
    Shape x{draw(1, 2), group * draw(1, 2)};
    Shape w{x[1], draw(0, 1) == 0 ? 16 : draw(1, 2)};
    Shape y{x[0], w[1] * group};
    x.insert(x.end(), extents.begin(), extents.end());
    w.insert(w.end(), kernel.begin(), kernel.end());
    y.insert(y.end(), out.begin(), out.end());
    if (ElementCount(y) == 0) continue;
    GraphForTest g;
    const auto bias = g.Constant("b", {y[1]}, WeightsForTest(y[1]));
    const auto c =
        g.Op("c", "ConvTranspose",
             {g.Input("x", x), g.Constant("w", w, WeightsForTest(ElementCount(w))), bias}, y,
             attributes);
    const auto s = g.Op("s", "Sigmoid", {c}, y);
    g.Output(g.Op("y", "Mul", {s, c}, y));
    const std::string text = Lowered(g);
    if (text.find("ConvTranspose") == std::string::npos) {
      ++lowered;
      const bool apart = text.find("Concat") != std::string::npos;  // activated once joined
      EXPECT_NE(text.find("silu") != std::string::npos, apart) << text;
    }
  }
  EXPECT_GE(lowered, 50);
}

/// How often "Conv" occurs in the lowered form of ConvTranspose of 2 to 16 channels.
std::size_t Convolutions(const Shape& extents, const Ints& kernel, const Attributes& attributes) {
  const Shape out = kernels::ResolveTransposedWindow(attributes, extents, kernel).output;
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, extents[0], extents[1]});
  const auto w =
      g.Constant("w", {2, 16, kernel[0], kernel[1]}, WeightsForTest(32 * kernel[0] * kernel[1]));
  g.Output(g.Op("y", "ConvTranspose", {x, w, g.Constant("b", {16}, WeightsForTest(16))},
                {1, 16, out[0], out[1]}, attributes));
  const ir::Graph before = g.graph;
  g.After("lower_conv_transpose");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return static_cast<std::size_t>(std::ranges::count(g.graph.nodes, "Conv", &ir::Node::op));
}

TEST(LowerConvTransposeTest, ComputesPhasesApartWhereThatSavesMuch) {
  const Ints twice{2, 2};
  const Ints border{1, 1, 1, 1};
  const Attributes odd{{"strides", twice}, {"pads", border}, {"output_padding", Ints{1, 1}}};
  EXPECT_EQ(Convolutions({5, 6}, {3, 3}, odd), 4U);  // 9 of 16 taps
  EXPECT_EQ(Convolutions({5, 6}, {3, 3}, {{"strides", twice}, {"pads", border}}), 4U);
  EXPECT_EQ(Convolutions({4, 4}, {4, 4}, {{"strides", twice}, {"pads", border}}), 4U);
  EXPECT_EQ(Convolutions({40, 40}, {4, 4}, {{"strides", twice}, {"pads", border}}), 1U);
  EXPECT_EQ(Convolutions({5, 6}, {2, 2}, {{"strides", twice}}), 1U);
  EXPECT_EQ(Convolutions({5, 6}, {5, 5}, {{"strides", twice}, {"pads", Ints{2, 2, 2, 2}}}), 1U);
  EXPECT_EQ(Convolutions({5, 6}, {4, 4}, {{"strides", Ints{3, 3}}}), 9U);
  EXPECT_EQ(Convolutions({4, 4}, {4, 4}, {{"strides", twice}, {"pads", Ints{3, 3, 3, 3}}}), 1U)
      << "a phase would have to skip input";
}

TEST(LowerConvTransposeTest, StaysInBlocksBetweenConvolutions) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 16, 3, 3});
  const auto w = g.Constant("w", {16, 16, 2, 2}, WeightsForTest(1024));
  const auto y = g.Op("y", "ConvTranspose", {x, w}, {1, 16, 6, 6}, {{"strides", Ints{2, 2}}});
  g.Output(
      g.Op("z", "Conv", {y, g.Constant("v", {16, 16, 1, 1}, WeightsForTest(256))}, {1, 16, 6, 6}));
  for (const char* pass : {"lower_conv_transpose", "lower_to_fused", "block_channels"}) {
    g.After(pass);
  }
  const std::string text = g.Text();
  const auto shuffle = text.find("SubpixelShuffle");
  ASSERT_NE(shuffle, std::string::npos);
  EXPECT_NE(text.find("phases_first=1 : float32[1, 1, 6, 6, 16]", shuffle), std::string::npos)
      << text;
  EXPECT_EQ(text.find("UnblockChannels"), text.rfind("UnblockChannels")) << text;
}

TEST(LowerConvTransposeTest, LeavesOthers) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 3, 3});
  const auto w = g.Constant("w", {2, 1, 2, 2}, WeightsForTest(8));
  g.Output(g.Op("a", "ConvTranspose", {x, g.Input("v", {2, 1, 2, 2})}, {1, 1, 4, 4}));
  g.Output(g.Op("b", "ConvTranspose", {x, w}, {1, 1, 5, 5}, {{"dilations", Ints{2, 2}}}));
  g.Output(g.Op("c", "ConvTranspose", {x, w}, {1, 1, 22, 22}, {{"strides", Ints{10, 10}}}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_conv_transpose"), before);
}

TEST(LiftToImageTest, TakesConvolutionsOfOneAxis) {
  GraphForTest g;
  const auto w = g.Constant("w", {4, 2, 3}, WeightsForTest(24));
  const auto y = g.Op("y", "Conv", {g.Input("x", {1, 2, 9}), w}, {1, 4, 5},
                      {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2}}});
  g.Output(g.Op("r", "Tanh", {y}, {1, 4, 5}));
  EXPECT_EQ(Lowered(g),
            "  y_node_image:0 = Reshape(x) shape=[1, 2, 1, 9] : float32[1, 2, 1, 9]\n"
            "  r_node_1:0 = FusedConv(y_node_image:0, w_1) activation=\"tanh\" dilations=[1, 1] "
            "kernel_shape=[1, 3] pads=[0, 1, 0, 1] strides=[1, 2] : float32[1, 4, 1, 5]\n"
            "  r = Reshape(r_node_1:0) shape=[1, 4, 5] : float32[1, 4, 5]\n"
            "  return r\n");
}

TEST(LiftToImageTest, SumsOfConvolutionsAreThoseOfImages) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 4, 9});
  const auto w = g.Constant("w", {4, 4, 1}, WeightsForTest(16));
  const auto a = g.Op("a", "Conv", {x, w}, {1, 4, 9});
  const auto b = g.Op("b", "Conv", {x, w}, {1, 4, 9});
  const auto sum = g.Op("sum", "Add", {a, b}, {1, 4, 9});
  const auto relu = g.Op("relu", "Relu", {sum}, {1, 4, 9});
  g.Output(g.Op("last", "Add", {relu, a}, {1, 4, 9}));
  g.Output(g.Op("other", "Add", {relu, x}, {1, 4, 9}));
  const ir::Graph before = g.graph;
  g.After("lift_to_image");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  std::string sums;
  for (const ir::Node& node : g.graph.nodes) {
    if (node.op != "Add" && node.op != "Relu") continue;
    sums += node.op + std::to_string(g.graph.type(node.outputs[0]).shape.size()) + " ";
  }
  EXPECT_EQ(sums, "Add4 Relu4 Add4 Add3 ");
}

TEST(LiftToImageTest, MeansAndMaximaOfConvolutionsAreThoseOfImages) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 4, 9});
  const auto w = g.Constant("w", {4, 4, 1}, WeightsForTest(16));
  const auto y = g.Op("r", "Relu", {g.Op("y", "Conv", {x, w}, {2, 4, 9})}, {2, 4, 9});
  const Attributes last{{"axes", Ints{-1}}, {"keepdims", std::int64_t{0}}};
  g.Output(g.Op("most", "ReduceMax", {y}, {2, 4}, last));
  g.Output(g.Op("mean", "ReduceMean", {y}, {2, 4, 1}, {{"axes", Ints{2}}}));
  g.Output(g.Op("pool", "GlobalMaxPool", {y}, {2, 4, 1}));
  g.Output(g.Op("channels", "ReduceMax", {y}, {2, 1, 9}, {{"axes", Ints{1}}}));
  g.Output(g.Op("sum", "ReduceSum", {y}, {2, 4}, last));
  g.Output(g.Op("rows", "ReduceMean", {x}, {2, 4}, last));
  const ir::Graph before = g.graph;
  g.After("lift_to_image");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  std::string found;
  for (const ir::Node& node : g.graph.nodes) {
    if (node.op == "Reshape" || node.op == "Conv" || node.op == "Relu") continue;
    found += node.op + std::to_string(g.graph.type(node.inputs[0]).shape.size()) + " ";
  }
  EXPECT_EQ(found,
            "GlobalMaxPool4 GlobalAveragePool4 GlobalMaxPool4 ReduceMax3 ReduceSum3 ReduceMean3 ");
}

TEST(LiftToImageTest, PoolsOfConvolutionsAreThoseOfImages) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 4, 9});
  const auto w = g.Constant("w", {4, 4, 1}, WeightsForTest(16));
  const auto y = g.Op("y", "Conv", {x, w}, {2, 4, 9});
  const auto pooled = g.Op("far", "MaxPool", {y}, {2, 4, 4},
                           {{"ceil_mode", std::int64_t{1}},
                            {"dilations", Ints{2}},
                            {"kernel_shape", Ints{2}},
                            {"pads", Ints{1, 0}},
                            {"strides", Ints{3}}});
  const auto again = g.Op("again", "Conv", {g.Op("r", "Relu", {pooled}, {2, 4, 4}), w}, {2, 4, 4});
  g.Output(g.Op("mean", "AveragePool", {again}, {2, 4, 2},
                {{"auto_pad", "SAME_LOWER"}, {"kernel_shape", Ints{3}}, {"strides", Ints{2}}}));
  g.Output(g.Op("padded", "AveragePool", {again}, {2, 4, 3},
                {{"ceil_mode", std::int64_t{1}},
                 {"count_include_pad", std::int64_t{1}},
                 {"kernel_shape", Ints{3}},
                 {"pads", Ints{1, 1}},
                 {"strides", Ints{2}}}));
  g.Output(g.Op("all", "MaxPool", {y}, {2, 4, 1}, {{"kernel_shape", Ints{9}}}));
  g.Output(g.Op("rows", "MaxPool", {x}, {2, 4, 8}, {{"kernel_shape", Ints{2}}}));
  const ir::Graph before = g.graph;
  g.After("lift_to_image");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  std::string found;
  for (const ir::Node& node : g.graph.nodes) {
    if (node.op == "Reshape") continue;
    found += node.op + std::to_string(g.graph.type(node.inputs[0]).shape.size()) + " ";
  }
  EXPECT_EQ(found, "Conv4 MaxPool4 Relu4 Conv4 AveragePool4 AveragePool4 MaxPool4 MaxPool3 ");
}

TEST(LiftToImageTest, RowsThatPoolingDoesNotTakeStay) {
  for (const auto& [element, width] :
       {std::pair{ElementType::kInt64, 9}, std::pair{ElementType::kFloat32, 0}}) {
    GraphForTest g(element);
    const auto image = g.Input("x", {2, 4, 1, width});
    const auto rows =
        g.Op("rows", "Reshape", {image}, {2, 4, width}, {{"shape", Ints{2, 4, width}}});
    g.Output(g.Op("most", "ReduceMax", {rows}, {2, 4, 1}, {{"axes", Ints{2}}}));
    const std::string before = g.Text();
    EXPECT_EQ(g.After("lift_to_image"), before);
  }
}

TEST(LiftToImageTest, QuantisedConvolutionsOfOneAxisAreThoseOfIntegers) {
  GraphForTest g;
  const TensorType bytes{ElementType::kUint8, {2, 16, 9}};
  const Attributes window{{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}};
  const auto scale = g.Scalar(0.03);
  const auto point = g.Constant("point", TensorType{ElementType::kUint8, {}}, {117});
  const auto quantized = [&](const char* name, ir::ValueId x) {
    return g.Op(name, "QuantizeLinear", {x, scale, point}, bytes);
  };
  const auto x = quantized("xq", g.Input("x", bytes.shape));
  std::vector<double> integers;
  for (int i = 0; i < 16 * 16 * 3; ++i) integers.push_back(i * 37 % 255 - 127);
  const auto w = g.Constant("w", TensorType{ElementType::kInt8, {16, 16, 3}}, integers);
  const auto zero = g.Constant("zero", TensorType{ElementType::kInt8, {}}, {0});
  const auto a = g.Op("a", "QLinearConv", {x, scale, point, w, g.Scalar(0.001), zero, scale, point},
                      bytes, window);
  for (double& value : integers) value *= 0.5;
  const auto floats = g.Constant("floats", {16, 16, 3}, integers);
  const auto read = g.Op("ad", "DequantizeLinear", {a, scale, point}, bytes.shape);
  const auto b = quantized("bq", g.Op("b", "Conv", {read, floats}, bytes.shape, window));
  g.Output(g.Op("y", "DequantizeLinear", {b, scale, point}, bytes.shape));
  const ir::Graph before = g.graph;
  for (const char* pass : {"lift_to_image", "fuse_consecutive_reshape", "eliminate_nop_reshape",
                           "lower_quantized_conv", "eliminate_deadend"}) {
    g.After(pass);
  }
  EXPECT_LE(LargestDifference(before, g.graph), 1.01 * 0.03) << "a step, where it is halfway";
  std::string found;
  for (const ir::Node& node : g.graph.nodes) {
    found += node.op + std::to_string(g.graph.type(node.inputs[0]).shape.size()) + " ";
  }
  EXPECT_EQ(found,
            "QuantizeLinear3 Reshape3 QLinearConv4 QLinearConv4 Reshape4 DequantizeLinear3 ");
}

TEST(LiftToImageTest, QuantisedRowsThatSeveralReadAreQuantisedOnce) {
  GraphForTest g;
  const TensorType bytes{ElementType::kUint8, {2, 16, 9}};
  const auto scale = g.Scalar(0.03);
  const auto point = g.Constant("point", TensorType{ElementType::kUint8, {}}, {117});
  const auto quantized = [&](const std::string& name, ir::ValueId x) {
    const auto q = g.Op(name + "q", "QuantizeLinear", {x, scale, point}, bytes);
    return g.Op(name + "d", "DequantizeLinear", {q, scale, point}, bytes.shape);
  };
  std::vector<double> weights;
  for (int i = 0; i < 16 * 16 * 3; ++i) weights.push_back((i * 37 % 255 - 127) / 512.0);
  const auto w = g.Constant("w", {16, 16, 3}, weights);
  const auto conv = [&](const std::string& name, ir::ValueId x) {
    return quantized(name, g.Op(name, "Conv", {x, w}, bytes.shape,
                                {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}}));
  };
  const auto x = quantized("x", g.Input("in", bytes.shape));
  const auto sum = quantized("sum", g.Op("s", "Add", {conv("a", x), x}, bytes.shape));
  g.Output(conv("b", sum));
  const auto matrix = g.Constant("m", {9, 4}, WeightsForTest(36));
  g.Output(g.Op("rows", "MatMul", {conv("c", sum), matrix}, {2, 16, 4}));
  const ir::Graph before = g.graph;
  for (const char* pass : {"lift_to_image", "fuse_consecutive_reshape", "eliminate_nop_reshape",
                           "eliminate_duplicate_nodes", "lower_quantized_conv",
                           "lower_quantized_add", "eliminate_deadend"}) {
    g.After(pass);
  }
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  std::map<std::string, int> found;
  for (const ir::Node& node : g.graph.nodes) ++found[node.op];
  EXPECT_EQ(found["QLinearConv"], 3);
  EXPECT_EQ(found["ByteAdd"], 1);
  EXPECT_EQ(found["QuantizeLinear"], 1);
  const ir::Node& product = g.graph.nodes.back();
  ASSERT_EQ(product.op, "MatMul");
  EXPECT_EQ(g.graph.nodes[g.graph.nodes.size() - 2].op, "DequantizeLinear")
      << "which products of integers are found by";
}

TEST(LowerConv3dTest, ComputesTheSameForAnyWindow) {
  struct Case {
    Shape x;
    Shape w;
    Attributes attributes;
    Shape y;
  };
  const std::vector<Case> cases = {
      {{1, 2, 4, 3, 3}, {3, 2, 1, 1, 1}, {}, {1, 3, 4, 3, 3}},
      {{2, 2, 5, 4, 3}, {2, 2, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1, 1, 1}}}, {2, 2, 5, 4, 3}},
      {{1, 1, 7, 4, 5},
       {2, 1, 3, 2, 1},
       {{"dilations", Ints{2, 1, 1}}, {"pads", Ints{0, 0, 0, 2, 1, 0}}, {"strides", Ints{2, 1, 2}}},
       {1, 2, 3, 4, 3}},
  };
  for (const Case& c : cases) {
    GraphForTest g;
    const auto w = g.Constant("w", c.w, WeightsForTest(ElementCount(c.w)));
    const auto b = g.Constant("b", {c.w[0]}, WeightsForTest(c.w[0]));
    g.Output(g.Op("y", "Conv", {g.Input("x", c.x), w, b}, c.y, c.attributes));
    const ir::Graph before = g.graph;
    g.After("lower_conv3d");
    EXPECT_NE(g.After("lower_to_fused").find("FusedConv"), std::string::npos);
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  }
}

TEST(LowerConv3dTest, WindowsSideBySideBecomeThoseOfImages) {
  struct Case {
    Shape x;
    Shape w;
    Shape y;
    bool has_bias;
  };
  const std::vector<Case> cases = {
      {{2, 3, 2, 3, 4}, {3, 2, 2, 2, 2}, {2, 2, 4, 6, 8}, true},
      {{1, 2, 3, 2, 2}, {2, 5, 1, 3, 2}, {1, 5, 3, 6, 4}, true},
      {{1, 2, 2, 2, 3}, {2, 1, 3, 1, 1}, {1, 1, 6, 2, 3}, false},
  };
  for (const Case& c : cases) {
    GraphForTest g;
    std::vector<ir::ValueId> inputs{g.Input("x", c.x),
                                    g.Constant("w", c.w, WeightsForTest(ElementCount(c.w)))};
    if (c.has_bias) inputs.push_back(g.Constant("b", {c.w[1]}, WeightsForTest(c.w[1])));
    g.Output(
        g.Op("y", "ConvTranspose", inputs, c.y, {{"strides", Ints(c.w.begin() + 2, c.w.end())}}));
    const ir::Graph before = g.graph;
    g.After("lower_conv3d");
    EXPECT_NE(g.After("lower_conv_transpose").find(" Conv("), std::string::npos);
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  }
}

TEST(LowerConv3dTest, LeavesWindowsThatOverlapOrAreCut) {
  const auto keeps = [](const Shape& y, Attributes attributes) {
    GraphForTest g;
    g.Output(
        g.Op("y", "ConvTranspose",
             {g.Input("x", {1, 2, 3, 3, 3}), g.Constant("w", {2, 1, 2, 2, 2}, WeightsForTest(16))},
             y, std::move(attributes)));
    const std::string before = g.Text();
    EXPECT_EQ(g.After("lower_conv3d"), before);
  };
  keeps({1, 1, 4, 4, 4}, {});
  keeps({1, 1, 6, 6, 5}, {{"strides", Ints{2, 2, 2}}, {"pads", Ints{0, 0, 0, 0, 0, 1}}});
  keeps({1, 1, 7, 6, 6}, {{"strides", Ints{2, 2, 2}}, {"output_padding", Ints{1, 0, 0}}});
}

}  // namespace
}  // namespace poprt::passes
