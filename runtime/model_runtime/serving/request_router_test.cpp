#include "model_runtime/serving/request_router.hpp"

#include <gtest/gtest.h>

#include <array>

#include "model_runtime/Errors.hpp"

namespace model_runtime {
namespace {

using poprt::ElementType;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Space;

/// graph "resnet": x float32[2] -> y float32[2]; graph "graph1": x float16[4] -> y float16[4].
Program TwoGraphs() {
  const auto branch = [](const std::string& name, poprt::TensorType type) {
    return Branch{.name = name,
                  .slots = {{type, Space::kArena, 0}, {type, Space::kArena, 64}},
                  .inputs = {{name + "/x", 0}},
                  .outputs = {{name + "/y", 1}},
                  .steps = {},
                  .arena_bytes = 128};
  };
  return {.branches = {branch("resnet", {ElementType::kFloat32, {2}}),
                       branch("graph1", {ElementType::kFloat16, {4}})},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = 0};
}

class RequestRouterTest : public testing::Test {
 protected:
  std::string ErrorOf(const std::vector<InputBuffer>& inputs,
                      const std::vector<OutputBuffer>& outputs, bool validate = true) {
    try {
      Route route;
      RequestRouter(program_, true, validate).Resolve(inputs, outputs, route);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  Route Resolve(const std::vector<InputBuffer>& inputs, const std::vector<OutputBuffer>& outputs,
                bool validate = true) {
    Route route;
    RequestRouter(program_, true, validate).Resolve(inputs, outputs, route);
    return route;
  }

  Program program_ = TwoGraphs();
  std::array<std::byte, 64> memory_{};
  void* const p_ = memory_.data();
};

TEST_F(RequestRouterTest, SelectsTheGraphByItsTensors) {
  EXPECT_EQ(Resolve({{"graph1/x", p_, 8}}, {{"graph1/y", p_, 8}}).branch, 1U);
  EXPECT_EQ(Resolve({{"resnet/x", p_, 8}}, {{"resnet/y", p_, 8}}).branch, 0U);
  EXPECT_EQ(Resolve({{"graph0/x", p_, 8}}, {{"graph0/y", p_, 8}}).branch, 0U);
}

TEST_F(RequestRouterTest, NamesWinOverNumbers) {
  Branch& second = program_.branches[1];
  second.name = "graph0";
  second.inputs[0].name = "graph0/x";
  second.outputs[0].name = "graph0/y";
  EXPECT_EQ(Resolve({{"graph0/x", p_, 8}}, {{"graph0/y", p_, 8}}).branch, 1U);
}

TEST_F(RequestRouterTest, AcceptsIndexOfAnyIntegerSize) {
  const std::uint8_t byte = 1;
  const std::int64_t wide = 1;
  EXPECT_EQ(Resolve({{"index", &byte, 1}, {"graph1/x", p_, 8}}, {{"graph1/y", p_, 8}}).branch, 1U);
  EXPECT_EQ(Resolve({{"graph1/x", p_, 8}, {"index", &wide, 8}}, {{"graph1/y", p_, 8}}).branch, 1U);
}

TEST_F(RequestRouterTest, CountsBatches) {
  EXPECT_EQ(Resolve({{"graph1/x", p_, 24}}, {{"graph1/y", p_, 24}}).batches, 3U);
  EXPECT_EQ(ErrorOf({{"graph1/x", p_, 24}}, {{"graph1/y", p_, 16}}),
            "output 'graph1/y' has 2 batches, but the request's first tensor has 3");
}

TEST_F(RequestRouterTest, NamesTensorsOfAnotherGraph) {
  const std::uint32_t index = 0;
  EXPECT_EQ(ErrorOf({{"index", &index, 4}, {"graph1/x", p_, 8}}, {{"resnet/y", p_, 8}}),
            "input 'graph1/x' belongs to graph 1 'graph1', but the request runs graph 0 'resnet'\n"
            "input 'resnet/x' of graph 'resnet' is missing");
  EXPECT_EQ(ErrorOf({{"index", &index, 4}, {"resnet/x", p_, 8}}, {{"graph1/y", p_, 8}}, false),
            "output 'graph1/y' belongs to graph 1 'graph1', but the request runs graph 0 'resnet'");
}

TEST_F(RequestRouterTest, ListsTheTensorsOfARequestThatMixesGraphs) {
  const std::string message =
      "the request mixes tensors of several graphs, give those of one:\n"
      "  graph 0 'resnet': graph0/y, resnet/x\n"
      "  graph 1 'graph1': graph1/x";
  EXPECT_EQ(ErrorOf({{"resnet/x", p_, 8}, {"graph1/x", p_, 8}}, {{"graph0/y", p_, 8}}), message);
  EXPECT_EQ(ErrorOf({{"graph1/x", p_, 8}, {"resnet/x", p_, 8}}, {{"graph0/y", p_, 8}}, false),
            message);
}

TEST_F(RequestRouterTest, SuggestsThePrefixOfTheGraph) {
  EXPECT_EQ(ErrorOf({{"x", p_, 8}}, {{"q", p_, 8}}),
            "the request gives neither 'index' nor a tensor of any graph\n"
            "input 'x' does not exist, names of a fused model start with the graph: write "
            "'resnet/x' or 'graph1/x'\n"
            "output 'q' does not exist, output names of graph 'resnet' are: resnet/y");
  EXPECT_EQ(ErrorOf({{"resnet/x", p_, 8}}, {{"resnet/y", p_, 8}, {"y", p_, 8}}),
            "output 'y' does not exist, names of a fused model start with the graph: write "
            "'resnet/y' or 'graph1/y'");
}

TEST_F(RequestRouterTest, NamesMissingUnknownAndMisplacedTensors) {
  EXPECT_EQ(ErrorOf({{"resnet/x", p_, 8}}, {}), "output 'resnet/y' of graph 'resnet' is missing");
  EXPECT_EQ(ErrorOf({{"resnet/x", p_, 8}, {"z", p_, 8}}, {{"resnet/y", p_, 8}}),
            "input 'z' does not exist, input names of graph 'resnet' are: resnet/x");
  EXPECT_EQ(ErrorOf({{"resnet/y", p_, 8}}, {{"resnet/y", p_, 8}}),
            "'resnet/y' is an output of the model, but the request gives it as an input\n"
            "input 'resnet/x' of graph 'resnet' is missing");
  EXPECT_EQ(ErrorOf({}, {}), "the request gives neither 'index' nor a tensor of any graph");
}

TEST_F(RequestRouterTest, NamesWrongSizes) {
  EXPECT_EQ(ErrorOf({{"resnet/x", p_, 12}}, {{"resnet/y", p_, 0}}),
            "input 'resnet/x' has 12 bytes, allowed are 8 (float32[2]) or a multiple\n"
            "output 'resnet/y' has 0 bytes, allowed are 8 (float32[2]) or a multiple");
}

TEST_F(RequestRouterTest, NamesABadIndex) {
  const std::uint32_t index = 2;
  EXPECT_EQ(ErrorOf({{"index", &index, 4}}, {}), "input 'index' is 2, allowed are 0 to 1");
  const std::int8_t minus_one = -1;
  EXPECT_EQ(ErrorOf({{"index", &minus_one, 1}}, {}), "input 'index' is -1, allowed are 0 to 1");
  const std::int64_t negative = -12345678901;
  EXPECT_EQ(ErrorOf({{"index", &negative, 8}}, {}),
            "input 'index' is -12345678901, allowed are 0 to 1");
  EXPECT_EQ(ErrorOf({{"index", p_, 3}}, {}),
            "input 'index' has 3 bytes, allowed is one integer of 1, 2, 4 or 8 bytes");
  EXPECT_EQ(ErrorOf({{"index", p_, 16}}, {}),
            "input 'index' has 16 bytes, allowed is one integer of 1, 2, 4 or 8 bytes");
}

TEST_F(RequestRouterTest, WithoutValidationOutputsMayBeLeftOutAndStrangersAreIgnored) {
  const Route route = Resolve({{"resnet/x", p_, 8}, {"z", p_, 3}}, {}, false);
  EXPECT_EQ(route.inputs, (std::vector<const void*>{p_}));
  EXPECT_EQ(route.outputs, (std::vector<void*>{nullptr}));
}

}  // namespace
}  // namespace model_runtime
