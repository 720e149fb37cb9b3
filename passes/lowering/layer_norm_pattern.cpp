#include "passes/lowering/layer_norm_pattern.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// The first of the last axes of its input over which a ReduceMean takes means, without removing
/// them; nothing for any other node.
std::optional<std::size_t> MeanAxis(const ir::Graph& graph, const Node& mean) {
  if (mean.attributes.get_int("keepdims", 1) == 0) return std::nullopt;
  const std::size_t rank = graph.type(mean.inputs[0]).shape.size();
  std::vector<bool> reduced(rank, false);
  for (std::int64_t axis : mean.attributes.get_ints("axes")) {
    if (const auto a = NormalizeAxis(axis, rank)) reduced[static_cast<std::size_t>(*a)] = true;
  }
  const auto first = std::ranges::find(reduced, true);
  if (first == reduced.end() || !std::all_of(first, reduced.end(), [](bool r) { return r; })) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(first - reduced.begin());
}

/// x / sqrt(mean(x * x) + epsilon) over the axes from `axis` on, for what `op` makes of x: itself,
/// or its difference to its mean.
struct Standardized {
  const char* op;
  ValueId x;
  std::size_t axis;
  double epsilon;
};

/// d if the value is 1 / d.
std::optional<ValueId> DivisorOfOne(Rewriter& rewriter, ValueId id) {
  const Node* node = rewriter.Producer(id);
  if (node == nullptr) return std::nullopt;
  if (node->op == "Reciprocal") return node->inputs[0];
  const bool is_quotient =
      node->op == "Div" && UniformValue(rewriter.graph(), node->inputs[0]) == 1.0;
  return is_quotient ? std::optional(node->inputs[1]) : std::nullopt;
}

/// `root` is a quotient; gives dividend and divisor, which may be written as a factor 1 / divisor.
std::optional<std::pair<ValueId, ValueId>> QuotientOf(Rewriter& rewriter, const Node& root) {
  if (root.op == "Div") return std::pair(root.inputs[0], root.inputs[1]);
  if (root.op != "Mul") return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    const auto divisor = DivisorOfOne(rewriter, root.inputs[i]);
    if (divisor && rewriter.UsedOnlyBy(1, root.inputs[i])) {
      return std::pair(root.inputs[1 - i], *divisor);
    }
  }
  return std::nullopt;
}

/// The producer of a value that only the pattern reads.
const Node* Own(Rewriter& rewriter, ValueId id, std::string_view op) {
  return rewriter.UsedOnlyBy(1, id) ? rewriter.Producer(id, op) : nullptr;
}

/// How often `square` = d * d reads d; 0 if it is something else.
int ReadsOfSquared(Rewriter& rewriter, const Node* square, ValueId d) {
  if (square == nullptr || square->inputs[0] != d) return 0;
  if (square->op == "Mul") return square->inputs[1] == d ? 2 : 0;
  const bool is_square =
      square->op == "Pow" && UniformValue(rewriter.graph(), square->inputs[1]) == 2.0;
  return is_square ? 1 : 0;
}

/// The input and the epsilon of variance + epsilon.
std::optional<std::pair<ValueId, double>> SplitEpsilon(Rewriter& rewriter, const Node& add) {
  for (const std::size_t i : {0U, 1U}) {
    const auto epsilon = UniformValue(rewriter.graph(), add.inputs[i]);
    if (epsilon) return std::pair(add.inputs[1 - i], *epsilon);
  }
  return std::nullopt;
}

/// d is x - mean(x) over `axis` and what follows it, read by the pattern alone, `reads` times.
std::optional<ValueId> Uncentred(Rewriter& rewriter, ValueId d, int reads, std::size_t axis) {
  const Node* sub = rewriter.UsedOnlyBy(reads, d) ? rewriter.Producer(d, "Sub") : nullptr;
  const Node* mean = sub == nullptr ? nullptr : Own(rewriter, sub->inputs[1], "ReduceMean");
  if (mean == nullptr || mean->inputs[0] != sub->inputs[0]) return std::nullopt;
  return MeanAxis(rewriter.graph(), *mean) == axis ? std::optional(sub->inputs[0]) : std::nullopt;
}

/// `root` is d / sqrt(mean(d^2) + epsilon).
std::optional<Standardized> MatchStandardized(Rewriter& rewriter, const Node& root) {
  const auto quotient = QuotientOf(rewriter, root);
  if (!quotient) return std::nullopt;
  const auto [d, deviation] = *quotient;

  const Node* sqrt = Own(rewriter, deviation, "Sqrt");
  const Node* add = sqrt == nullptr ? nullptr : Own(rewriter, sqrt->inputs[0], "Add");
  const auto variance = add == nullptr ? std::nullopt : SplitEpsilon(rewriter, *add);
  if (!variance) return std::nullopt;
  const Node* mean_of_squares = Own(rewriter, variance->first, "ReduceMean");
  if (mean_of_squares == nullptr || !rewriter.UsedOnlyBy(1, mean_of_squares->inputs[0])) {
    return std::nullopt;
  }
  const int reads = ReadsOfSquared(rewriter, rewriter.Producer(mean_of_squares->inputs[0]), d);
  const auto axis = MeanAxis(rewriter.graph(), *mean_of_squares);
  if (reads == 0 || !axis) return std::nullopt;
  if (const auto x = Uncentred(rewriter, d, reads + 1, *axis)) {
    return Standardized{"LayerNormalization", *x, *axis, variance->second};
  }
  return Standardized{"RMSNormalization", d, *axis, variance->second};
}

/// What a normalisation scales and shifts with has the shape of the normalised axes.
TensorType ParameterType(const ir::Graph& graph, ValueId x, std::size_t axis) {
  const TensorType& type = graph.type(x);
  return {type.element,
          Shape(type.shape.begin() + static_cast<std::ptrdiff_t>(axis), type.shape.end())};
}

bool StartNormalization(Rewriter& rewriter, Node& node) {
  const auto match = MatchStandardized(rewriter, node);
  if (!match || !IsFloat(rewriter.graph().type(match->x).element)) return false;
  // An epsilon of higher rank would repeat the result.
  if (rewriter.graph().type(match->x) != rewriter.graph().type(node.outputs[0])) return false;
  const TensorType type = ParameterType(rewriter.graph(), match->x, match->axis);
  const std::vector<double> ones(static_cast<std::size_t>(ElementCount(type.shape)), 1.0);
  const ValueId scale = rewriter.AddConstant(node.name + "_ones", FromDoubles(type, ones));
  node.op = match->op;
  node.inputs = {match->x, scale};
  node.attributes = {{"axis", static_cast<std::int64_t>(match->axis)},
                     {"epsilon", static_cast<float>(match->epsilon)}};
  return true;
}

/// `id` as a parameter of that type; constants may have further leading axes of extent 1.
std::optional<ValueId> AsParameter(Rewriter& rewriter, ValueId id, const TensorType& type) {
  const TensorType found = rewriter.graph().type(id);
  if (found == type) return id;
  const Tensor* constant = rewriter.graph().ConstantOf(id);
  Shape shape = found.shape;
  while (shape.size() > type.shape.size() && shape.front() == 1) shape.erase(shape.begin());
  if (constant == nullptr || found.element != type.element || shape != type.shape) {
    return std::nullopt;
  }
  return rewriter.AddConstant(rewriter.graph().value(id).name, constant->WithType(type));
}

/// Makes `node`, a Mul or Add of a fresh normalisation and a parameter, that normalisation.
bool ContinueNormalization(Rewriter& rewriter, Node& node) {
  if (node.op != "Mul" && node.op != "Add") return false;
  for (const std::size_t i : {0U, 1U}) {
    Node* norm = rewriter.Producer(node.inputs[i]);
    const bool can_continue =
        norm != nullptr &&
        (norm->op == "LayerNormalization" || (norm->op == "RMSNormalization" && node.op == "Mul"));
    if (!can_continue || norm->inputs.size() != 2 || norm->outputs.size() != 1 ||
        !rewriter.UsedOnlyBy(1, node.inputs[i])) {
      continue;
    }
    const ir::Graph& graph = rewriter.graph();
    if (graph.type(node.outputs[0]) != graph.type(node.inputs[i])) continue;
    if (node.op == "Mul" && UniformValue(graph, norm->inputs[1]) != 1.0) continue;
    const auto parameter = AsParameter(rewriter, node.inputs[1 - i], graph.type(norm->inputs[1]));
    if (!parameter) continue;
    const ValueId x = norm->inputs[0];
    const ValueId scale = norm->inputs[1];
    node.inputs = node.op == "Mul" ? std::vector<ValueId>{x, *parameter}
                                   : std::vector<ValueId>{x, scale, *parameter};
    node.op = norm->op;
    node.attributes = norm->attributes;
    return true;
  }
  return false;
}

}  // namespace

absl::Status LayerNormPattern(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, Node& node) {
    return StartNormalization(rewriter, node) || ContinueNormalization(rewriter, node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
