#include "compiler/driver/lower_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace poprt::driver {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Not;

void Ignore(const std::string&) {}

/// Two 3x3 convolutions of 32 channels.
ir::Graph Convolutions() {
  ir::Graph graph;
  graph.name = "g";
  const TensorType type{ElementType::kFloat32, {1, 32, 16, 16}};
  ir::ValueId value = graph.AddValue("x", type);
  graph.inputs = {value};
  for (const char* name : {"a", "b"}) {
    const ir::ValueId w = graph.AddConstant(std::string(name) + "_w",
                                            Tensor({ElementType::kFloat32, {32, 32, 3, 3}}));
    graph.nodes.push_back(graph.MakeNode("Conv", {value, w}, type, {{"pads", Ints(4, 1)}}, name));
    value = graph.nodes.back().outputs[0];
  }
  graph.outputs = {value};
  graph.output_names = {"y"};
  return graph;
}

/// A convolution of single pixels of an image with sides of `side`, to 16 channels.
ir::Graph SinglePixels(std::int64_t channels, std::int64_t side) {
  ir::Graph graph;
  graph.name = "g";
  graph.inputs = {graph.AddValue("x", {ElementType::kFloat32, {1, channels, side, side}})};
  const ir::ValueId w =
      graph.AddConstant("w", Tensor({ElementType::kFloat32, {16, channels, 1, 1}}));
  graph.nodes.push_back(graph.MakeNode("Conv", {graph.inputs[0], w},
                                       {ElementType::kFloat32, {1, 16, side, side}}, {}, "conv"));
  graph.outputs = graph.nodes.back().outputs;
  graph.output_names = {"y"};
  return graph;
}

/// A product of [3, 64] with weights of a number of bits.
ir::Graph ProductWithBits(int bits) {
  ir::Graph graph;
  graph.name = "g";
  graph.inputs = {graph.AddValue("x", {ElementType::kFloat32, {3, 64}})};
  Tensor weights({ElementType::kFloat32, {64, 100}});
  const int count = 1 << bits;
  int next = 0;
  for (float& weight : weights.as_mutable<float>()) {
    weight = static_cast<float>(2 * next - count) / 4;
    next = (next + 37) % count;
  }
  const ir::ValueId w = graph.AddConstant("w", weights);
  graph.nodes.push_back(graph.MakeNode("MatMul", {graph.inputs[0], w},
                                       {ElementType::kFloat32, {3, 100}}, {}, "product"));
  graph.outputs = graph.nodes.back().outputs;
  graph.output_names = {"y"};
  return graph;
}

/// What kernels take, in microseconds; those that are not named take 1.
using Prices = std::map<std::string, double>;

tuner::KernelTuner TunerWith(const Prices& prices, std::vector<std::string>* warnings = nullptr) {
  const auto measure =
      [prices](std::span<const tuner::Workload> workloads) -> absl::StatusOr<std::vector<double>> {
    if (prices.empty()) return absl::InvalidArgumentError("no clock");
    std::vector<double> sums;
    for (const tuner::Workload& workload : workloads) {
      double sum = 0;
      for (const tuner::KernelUse& use : workload.uses) {
        const auto price = prices.find(use.kernel);
        sum += use.count * (price == prices.end() ? 1 : price->second);
      }
      sums.push_back(sum);
    }
    return sums;
  };
  return tuner::KernelTuner({"a processor", 1}, {}, measure,
                            [warnings](const std::string& message) {
                              if (warnings != nullptr) warnings->push_back(message);
                            });
}

/// The kernels of the steps.
std::vector<std::string> Kernels(tuner::KernelTuner* tuner,
                                 const passes::PipelineOptions& options = {},
                                 const ir::Graph& graph = Convolutions()) {
  const auto schedule = LowerGraph(graph, options, true, Ignore, tuner);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  std::vector<std::string> kernels;
  if (!schedule.ok()) return kernels;
  for (const lower::Step& step : schedule->steps) kernels.push_back(step.kernel);
  return kernels;
}

TEST(LowerGraphTest, TheCostTableDecidesWithoutATuner) {
  EXPECT_THAT(Kernels(nullptr), ElementsAre("block_channels", "blocked_winograd_conv2d",
                                            "blocked_winograd_conv2d", "unblock_channels"));
}

TEST(LowerGraphTest, LongSumsOverManyPixelsAreComputedBlockByBlock) {
  using Size = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [channels, side] : {Size{1024, 9}, Size{1040, 8}}) {
    EXPECT_THAT(Kernels(nullptr, {}, SinglePixels(channels, side)),
                Contains("blocked_pointwise_conv2d"));
  }
  EXPECT_THAT(Kernels(nullptr, {}, SinglePixels(1040, 9)), Contains("blocked_conv2d"));
}

TEST(LowerGraphTest, WeightsOfFewBitsAreIntegersUnlessThatIsForbidden) {
  passes::PipelineOptions options;
  options.skip = {"choose_integer_weights"};
  for (const int bits : {4, 8, 11}) {
    EXPECT_THAT(Kernels(nullptr, {}, ProductWithBits(bits)), ElementsAre("weight_only_gemm"));
    EXPECT_THAT(Kernels(nullptr, options, ProductWithBits(bits)), ElementsAre("gemm"));
  }
  EXPECT_THAT(Kernels(nullptr, {}, ProductWithBits(13)), ElementsAre("gemm"));
}

/// Quantised, multiplied, and quantised before and behind Relu.
TEST(LowerGraphTest, ProductsOfBytesEndWithTheQuantisationBehindThem) {
  ir::Graph graph;
  graph.name = "g";
  const TensorType bytes{ElementType::kUint8, {4, 64}};
  graph.inputs = {graph.AddValue("x", bytes)};
  const auto constant = [&](const char* name, const TensorType& type, auto value) {
    Tensor tensor(type);
    std::ranges::fill(tensor.as_mutable<decltype(value)>(), value);
    return graph.AddConstant(name, tensor);
  };
  const ir::ValueId scale = constant("scale", {ElementType::kFloat32, {}}, 0.25F);
  const ir::ValueId point = constant("point", {ElementType::kUint8, {}}, std::uint8_t{3});
  const ir::ValueId weights = constant("w", {ElementType::kFloat32, {64, 64}}, 0.5F);
  ir::ValueId value = graph.inputs[0];
  const auto add = [&](const char* op, std::vector<ir::ValueId> inputs, ElementType element) {
    graph.nodes.push_back(graph.MakeNode(op, std::move(inputs), {element, bytes.shape}, {},
                                         "node_" + std::to_string(graph.nodes.size())));
    value = graph.nodes.back().outputs[0];
  };
  add("DequantizeLinear", {value, scale, point}, ElementType::kFloat32);
  add("MatMul", {value, weights}, ElementType::kFloat32);
  add("QuantizeLinear", {value, scale, point}, ElementType::kUint8);
  add("DequantizeLinear", {value, scale, point}, ElementType::kFloat32);
  add("Relu", {value}, ElementType::kFloat32);
  add("QuantizeLinear", {value, scale, point}, ElementType::kUint8);
  graph.outputs = {value};
  graph.output_names = {"y"};
  const auto schedule = LowerGraph(graph, {}, true, Ignore, nullptr);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ASSERT_EQ(schedule->steps.size(), 2U);
  EXPECT_EQ(schedule->steps[0].kernel, "integer_gemm");
  EXPECT_TRUE(schedule->steps[0].attributes.has("y_scale"));
  EXPECT_EQ(schedule->steps[1].kernel, "fused_elementwise");
}

TEST(LowerGraphTest, TheTunerChoosesTheAlgorithm) {
  tuner::KernelTuner tuner =
      TunerWith({{"blocked_conv2d", 5}, {"blocked_winograd_conv2d", 10}, {"conv2d", 1000}});
  EXPECT_THAT(Kernels(&tuner), ElementsAre("block_channels", "blocked_conv2d", "blocked_conv2d",
                                           "unblock_channels"));
  const std::vector<tuner::TunedChoice>& choices = tuner.report().choices;
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].what, "graph 'g'");
  EXPECT_EQ(choices[0].chosen, "with block_channels");
  EXPECT_EQ(choices[1].what, "3x3 convolution, 32 to 32 channels, 16x16");
  EXPECT_EQ(choices[1].uses, 2);
  EXPECT_EQ(choices[1].chosen, "direct");
  EXPECT_EQ(choices[1].GainMicroseconds(), 10);
}

TEST(LowerGraphTest, TheTunerChoosesTheLayoutOfTheGraph) {
  tuner::KernelTuner tuner =
      TunerWith({{"blocked_conv2d", 50}, {"blocked_winograd_conv2d", 50}, {"conv2d", 10}});
  EXPECT_THAT(Kernels(&tuner), ElementsAre("conv2d", "conv2d"));
  // What was decided for blocks is not used.
  ASSERT_EQ(tuner.report().choices.size(), 1U);
  EXPECT_EQ(tuner.report().choices[0].chosen, "without block_channels");
}

TEST(LowerGraphTest, TheTunerBringsBackNothingThatIsForbidden) {
  tuner::KernelTuner tuner = TunerWith({{"blocked_conv2d", 500}, {"conv2d", 1000}});
  passes::PipelineOptions options;
  options.skip = {"choose_winograd"};
  EXPECT_THAT(Kernels(&tuner, options), Not(Contains("blocked_winograd_conv2d")));
  options.skip = {"block_channels"};
  EXPECT_THAT(Kernels(&tuner, options), Each("conv2d"));
}

TEST(LowerGraphTest, WhatCannotBeMeasuredIsAsWithoutATuner) {
  std::vector<std::string> warnings;
  tuner::KernelTuner tuner = TunerWith({}, &warnings);
  EXPECT_EQ(Kernels(&tuner), Kernels(nullptr));
  const std::string blocks =
      "perf_tuner: blocks of blocked_winograd_conv2d, float32[1, 2, 16, 16, 16] to "
      "float32[1, 2, 16, 16, 16]: no clock";
  EXPECT_THAT(warnings,
              ElementsAre("perf_tuner: 3x3 convolution, 32 to 32 channels, 16x16: no clock",
                          "perf_tuner: 3x3 convolution, 32 to 32 channels, 16x16: no clock",
                          "perf_tuner: graph 'g': no clock", blocks, blocks));
}

}  // namespace
}  // namespace poprt::driver
