#include "passes/lowering/block_quantized.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// Quantised networks after block_channels.
namespace poprt::passes {
namespace {

TensorType Bytes(Shape shape) { return {ElementType::kUint8, std::move(shape)}; }

class QuantizedNetwork : public GraphForTest {
 public:
  struct Parameters {
    std::int64_t side = 1;
    std::int64_t group = 1;
    ElementType weights = ElementType::kInt8;
    double w_point = 0;
    bool biased = true;
    Attributes attributes = {};
    std::int64_t pad = -1;  ///< half of a side
  };

  /// A convolution of bytes that keeps height and width.
  ir::ValueId Conv(const std::string& name, ir::ValueId x, std::int64_t outs,
                   const Parameters& with) {
    Shape shape = graph.type(x).shape;
    const Shape w{outs, shape[1] / with.group, with.side, with.side};
    shape[1] = outs;
    std::vector<double> weights;
    const double first = with.weights == ElementType::kInt8 ? -128 : 0;
    for (std::int64_t i = 0; i < ElementCount(w); ++i) {
      weights.push_back(first + static_cast<double>(i * 37 % 256));
    }
    std::vector<double> scales;
    std::vector<double> biases;
    for (std::int64_t o = 0; o < outs; ++o) {
      scales.push_back(0.001 + 0.0001 * static_cast<double>(o));
      biases.push_back(static_cast<double>(o * 50 - 300));
    }
    const TensorType one{ElementType::kFloat32, {}};
    std::vector<ir::ValueId> inputs{
        x,
        Constant(name + "_xs", one, {0.03}),
        Constant(name + "_xz", Bytes({}), {119}),
        Constant(name + "_w", TensorType{with.weights, w}, weights),
        Constant(name + "_ws", TensorType{ElementType::kFloat32, {outs}}, scales),
        Constant(name + "_wz", TensorType{with.weights, {outs}},
                 std::vector<double>(static_cast<std::size_t>(outs), with.w_point)),
        Constant(name + "_ys", one, {0.05}),
        Constant(name + "_yz", Bytes({}), {131})};
    if (with.biased) {
      inputs.push_back(Constant(name + "_b", TensorType{ElementType::kInt32, {outs}}, biases));
    }
    Attributes attributes = with.attributes;
    attributes.set("group", with.group);
    attributes.set("pads", Ints(4, with.pad < 0 ? with.side / 2 : with.pad));
    return Op(name, "QLinearConv", std::move(inputs), Bytes(shape), std::move(attributes));
  }

  /// The operators after the pass; the result must be the same bits.
  std::string Blocked() {
    const ir::Graph before = graph;
    After("block_channels");
    EXPECT_EQ(ir::Verify(graph), std::nullopt);
    EXPECT_EQ(LargestDifference(before, graph), 0);
    std::string text;
    for (const ir::Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
    return text;
  }
};

TEST(BlockQuantizedTest, ConvolutionsStayInBlocks) {
  QuantizedNetwork g;
  const auto x = g.Input("x", Bytes({2, 3, 7, 6}));
  const auto a = g.Conv("a", x, 24, {.side = 3});
  const auto b = g.Conv("b", a, 24, {.side = 3, .group = 24, .biased = false});
  const auto c = g.Conv("c", b, 40, {.weights = ElementType::kUint8, .w_point = 128});
  g.Output(c);
  EXPECT_EQ(g.Blocked(), "BlockedByteConv BlockedByteConv BlockedByteConv UnblockChannels");
}

TEST(BlockQuantizedTest, ImagesOfFewPlanesAreReadAsTheyAre) {
  for (const auto& [ins, text] : {std::pair{3, "BlockedByteConv UnblockChannels"},
                                  std::pair{5, "BlockChannels BlockedByteConv UnblockChannels"}}) {
    QuantizedNetwork g;
    g.Output(g.Conv("a", g.Input("x", Bytes({1, ins, 5, 5})), 20, {.side = 3}));
    EXPECT_EQ(g.Blocked(), text);
  }
}

TEST(BlockQuantizedTest, SumsOfWhatIsDequantisedStayInBlocks) {
  QuantizedNetwork g;
  const auto x = g.Conv("a", g.Input("x", Bytes({1, 16, 4, 5})), 20, {.side = 1});
  const auto scale = g.Scalar(0.05);
  const auto point = g.Constant("z", Bytes({}), {131});
  const TensorType floats{ElementType::kFloat32, {1, 20, 4, 5}};
  const auto y = g.Conv("b", x, 20, {.side = 3});
  const auto left = g.Op("left", "DequantizeLinear", {x, scale, point}, floats);
  const auto right = g.Op("right", "DequantizeLinear", {y, scale, point}, floats);
  const auto sum = g.Op("sum", "Add", {left, right}, floats);
  const auto z = g.Op("z", "QuantizeLinear", {sum, scale, point}, Bytes({1, 20, 4, 5}));
  g.Output(g.Conv("c", z, 16, {}));
  EXPECT_EQ(g.Blocked(),
            "BlockChannels BlockedByteConv BlockedByteConv DequantizeLinear DequantizeLinear Add "
            "QuantizeLinear BlockedByteConv UnblockChannels");
}

TEST(BlockQuantizedTest, BytesOfOtherLayoutsAreTransposed) {
  QuantizedNetwork g;
  const Shape pixels{1, 4, 5, 16};
  const auto x = g.Op("planes", "Transpose", {g.Input("x", Bytes(pixels))}, Bytes({1, 16, 4, 5}),
                      {{"perm", Ints{0, 3, 1, 2}}});
  const auto y = g.Conv("a", x, 16, {.side = 3});
  g.Output(g.Op("pixels", "Transpose", {y}, Bytes(pixels), {{"perm", Ints{0, 2, 3, 1}}}));
  const ir::Graph before = g.graph;
  g.After("block_channels");
  g.After("fuse_transpose_into_blocks");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(BlockQuantizedTest, PoolsAndSumsOfBytesStayInBlocks) {
  QuantizedNetwork g;
  const auto x = g.Conv("a", g.Input("x", Bytes({1, 16, 7, 9})), 20, {.side = 1});
  const auto pooled = g.Op("pool", "MaxPool", {x}, Bytes({1, 20, 3, 4}),
                           {{"kernel_shape", Ints{2, 3}}, {"strides", Ints{2, 2}}});
  const auto y = g.Conv("b", pooled, 20, {.side = 3});
  Attributes scales;
  for (const char* name : {"a", "b", "y"}) {
    scales.set(std::string(name) + "_scale", 0.5F);
    scales.set(std::string(name) + "_point", std::int64_t{100});
  }
  g.Output(g.Op("sum", "ByteAdd", {pooled, y}, Bytes({1, 20, 3, 4}), scales));
  EXPECT_EQ(g.Blocked(),
            "BlockChannels BlockedByteConv BlockedByteMaxPool BlockedByteConv ByteAdd "
            "UnblockChannels");
}

TEST(BlockQuantizedTest, LeavesWhatHasNoForm) {
  const auto blocked = [](const QuantizedNetwork::Parameters& with, std::int64_t ins,
                          std::int64_t outs) {
    QuantizedNetwork g;
    g.Output(g.Conv("a", g.Input("x", Bytes({1, ins, 5, 5})), outs, with));
    return g.Blocked();
  };
  EXPECT_EQ(blocked({}, 16, 7), "QLinearConv") << "few results";
  EXPECT_EQ(blocked({.w_point = 1}, 16, 16), "QLinearConv") << "zero points of weights";
  EXPECT_EQ(blocked({.weights = ElementType::kUint8, .w_point = 3}, 16, 16), "QLinearConv");
  EXPECT_EQ(blocked({.group = 2}, 32, 32), "QLinearConv") << "groups";
  EXPECT_EQ(blocked({.side = 3, .group = 16}, 16, 16),
            "BlockChannels BlockedByteConv UnblockChannels");
  const QuantizedNetwork::Parameters dilated{
      .side = 3, .group = 16, .attributes = {{"dilations", Ints{2, 2}}}, .pad = 2};
  EXPECT_EQ(blocked(dilated, 16, 16), "QLinearConv") << "single channels with dilations";
}

}  // namespace
}  // namespace poprt::passes
