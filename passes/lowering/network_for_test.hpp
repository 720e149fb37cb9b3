#pragma once

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {

inline constexpr double kRounding = 1e-4;

inline std::vector<double> Ramp(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7) / 8 - 0.4;
  return values;
}

/// Networks of convolutions, for the tests of passes that work on blocks of channels.
class Network : public GraphForTest {
 public:
  /// A convolution with a square filter that keeps height and width.
  ir::ValueId Conv(std::string_view name, ir::ValueId x, std::int64_t out_channels,
                   std::int64_t side = 1, std::int64_t group = 1,
                   ir::ValueId residual = ir::kAbsent, Attributes attributes = {}) {
    Shape shape = graph.type(x).shape;
    const Shape weights{out_channels, shape[1] / group, side, side};
    shape[1] = out_channels;
    std::vector<ir::ValueId> inputs = {
        x, Constant(std::string(name) + "_w", weights, Ramp(ElementCount(weights)))};
    if (residual != ir::kAbsent) inputs.insert(inputs.end(), {ir::kAbsent, residual});
    attributes.set("group", group);
    attributes.set("pads", Ints(4, side / 2));
    return Op(name, "FusedConv", std::move(inputs), shape, std::move(attributes));
  }

  /// Two parts of the channels of an image.
  std::array<ir::ValueId, 2> Cut(const std::string& name, ir::ValueId x, std::int64_t first,
                                 std::int64_t second) {
    std::array<ir::ValueId, 2> parts{};
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      TensorType type = graph.type(x);
      type.shape[1] = i == 0 ? first : second;
      parts[i] = graph.AddValue(name + std::to_string(i), type);
    }
    graph.nodes.push_back(
        {.name = name,
         .op = "Split",
         .inputs = {x},
         .outputs = {parts[0], parts[1]},
         .attributes = {{"axis", std::int64_t{1}}, {"split", Ints{first, second}}}});
    return parts;
  }

  /// The text after the passes, without types and attributes; the result must compute the same.
  std::string Blocked(std::initializer_list<const char*> passes = {"block_channels"}) {
    const ir::Graph before = graph;
    for (const char* pass : passes) After(pass);
    EXPECT_EQ(ir::Verify(graph), std::nullopt);
    EXPECT_LE(LargestDifference(before, graph), kRounding);
    std::string text;
    for (const ir::Node& node : graph.nodes) {
      text += (text.empty() ? "" : " ") + node.op;
      const Shape& shape = graph.type(node.outputs[0]).shape;
      if (shape.size() > 1) text += ":" + std::to_string(shape[1]);
    }
    return text;
  }
};

}  // namespace poprt::passes
