#include "passes/lowering/block_norm.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/blocked_operator.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

/// A normalization of `groups` of an image's channels.
struct GroupNorm {
  ValueId image = ir::kAbsent;
  std::int64_t groups = 1;
  float epsilon = 0;
  std::vector<double> scale;  ///< of each channel
  std::vector<double> bias;
};

/// One number for each of the channels, of a constant with one for each or for each group.
std::optional<std::vector<double>> OfChannels(const Graph& graph, ValueId id,
                                              std::int64_t channels) {
  const Tensor* constant = graph.ConstantOf(id);
  if (constant == nullptr || constant->count() == 0 || channels % constant->count() != 0) {
    return std::nullopt;
  }
  std::vector<double> numbers;
  const std::int64_t each = channels / constant->count();
  for (const double number : ToDoubles(*constant)) {
    numbers.insert(numbers.end(), static_cast<std::size_t>(each), number);
  }
  return numbers;
}

/// The norm that `norm` computes of `image`.
std::optional<GroupNorm> NormOf(const Graph& graph, const Node& norm, ValueId image,
                                std::int64_t groups) {
  const std::int64_t channels = graph.type(image).shape[1];
  if (groups < 1 || channels % groups != 0) return std::nullopt;
  const auto scale = OfChannels(graph, norm.inputs[1], channels);
  const auto bias = OfChannels(graph, norm.inputs[2], channels);
  if (!scale || !bias) return std::nullopt;
  return GroupNorm{.image = image,
                   .groups = groups,
                   .epsilon = norm.attributes.get_float("epsilon", 1e-5F),
                   .scale = *scale,
                   .bias = *bias};
}

/// The norm whose result a node is.
std::optional<GroupNorm> FindNorm(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const TensorType& result = graph.type(node.outputs[0]);
  if (!CanBlock(result)) return std::nullopt;
  if (node.op == "InstanceNormalization" || node.op == "GroupNormalization") {
    const bool of_groups = node.op == "GroupNormalization";
    const std::int64_t groups =
        of_groups ? node.attributes.get_int("num_groups", 1) : result.shape[1];
    return NormOf(graph, node, node.inputs[0], groups);
  }
  // Rows that are made of groups of an image's channels, and made an image again.
  const Node* norm = rewriter.Producer(node.inputs[0], "InstanceNormalization");
  if (norm == nullptr || !rewriter.UsedOnlyBy(1, node.inputs[0])) return std::nullopt;
  const Node* rows = rewriter.Producer(norm->inputs[0], "Reshape");
  if (rows == nullptr || graph.type(rows->inputs[0]) != result) return std::nullopt;
  const Shape& shape = graph.type(norm->inputs[0]).shape;
  if (shape.size() < 3 || shape[0] != result.shape[0]) return std::nullopt;
  return NormOf(graph, *norm, rows->inputs[0], shape[1]);
}

/// A constant of one number for each channel, zeros behind them.
ValueId BlockedConstant(Rewriter& rewriter, const std::string& name, Shape shape,
                        std::vector<double> values) {
  values.resize(static_cast<std::size_t>(ElementCount(shape)));
  return rewriter.AddConstant(name, FromDoubles({ElementType::kFloat32, std::move(shape)}, values));
}

}  // namespace

bool BlockNorm(Rewriter& rewriter, Node& node) {
  const auto norm = FindNorm(rewriter, node);
  if (!norm || !IsBlocked(rewriter, norm->image)) return false;
  Graph& graph = rewriter.graph();
  const std::string name = node.name;
  const ValueId image = Block(rewriter, norm->image);
  const TensorType blocked = graph.type(image);
  const std::int64_t blocks = blocked.shape[1];
  const ValueId scale = BlockedConstant(rewriter, name + "_scale", {blocks * kBlock}, norm->scale);
  const TensorType of_channels{blocked.element, {blocked.shape[0], blocks, 1, 1, kBlock}};
  Node moments = graph.MakeNode("BlockedMoments", {image, scale}, of_channels,
                                {{"channels", static_cast<std::int64_t>(norm->scale.size())},
                                 {"epsilon", norm->epsilon},
                                 {"groups", norm->groups}},
                                name);
  moments.outputs.push_back(graph.AddValue(name + "_factor", of_channels));
  const ValueId mean = moments.outputs[0];
  const ValueId factor = moments.outputs[1];
  rewriter.Insert(std::move(moments));
  const ValueId centered = rewriter.Insert(graph.MakeNode("Sub", {image, mean}, blocked, {}, name));
  const bool has_bias = std::ranges::any_of(norm->bias, [](double x) { return x != 0; });
  if (!has_bias) {
    BecomeUnblocked(rewriter, node, "Mul", {centered, factor}, {});
    return true;
  }
  const ValueId scaled =
      rewriter.Insert(graph.MakeNode("Mul", {centered, factor}, blocked, {}, name));
  const ValueId bias =
      BlockedConstant(rewriter, name + "_bias", {blocks, 1, 1, kBlock}, norm->bias);
  BecomeUnblocked(rewriter, node, "Add", {scaled, bias}, {});
  return true;
}

}  // namespace poprt::passes
