#include "passes/lowering/attention_pattern.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/strided_view.hpp"
#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// What is added to a score, or put in its place, to hide it: softmax makes zero of it.
constexpr double kHidden = -1e4;
/// The kernel packs keys and values of one head; more elements than these are left to a MatMul.
constexpr std::int64_t kLargestHead = std::int64_t{1} << 22;

// ---- Scores ------------------------------------------------------------------------------------

/// The input of a Softmax: where(keep == keep_if, factor * product, fill) + mask.
struct Scores {
  const Node* product = nullptr;
  double factor = 1;
  ValueId mask = ir::kAbsent;
  ValueId keep = ir::kAbsent;
  bool keep_if = true;
  double fill = 0;
};

bool BroadcastsAlongRows(const Shape& mask, const Shape& scores) {
  return !mask.empty() && mask.back() == scores.back() && Broadcast(mask, scores) == scores;
}

std::optional<Scores> MatchScores(Rewriter& rewriter, ValueId id, const TensorType& type,
                                  Scores outer);

std::optional<Scores> MatchMasked(Rewriter& rewriter, const Node& add, const TensorType& type,
                                  const Scores& outer) {
  if (outer.mask != ir::kAbsent || outer.keep != ir::kAbsent || outer.factor != 1) {
    return std::nullopt;
  }
  for (const std::size_t i : {0U, 1U}) {
    Scores scores = outer;
    scores.mask = add.inputs[1 - i];
    if (!BroadcastsAlongRows(rewriter.graph().type(scores.mask).shape, type.shape)) continue;
    if (auto match = MatchScores(rewriter, add.inputs[i], type, scores)) return match;
  }
  return std::nullopt;
}

std::optional<Scores> MatchReplaced(Rewriter& rewriter, const Node& where, const TensorType& type,
                                    const Scores& outer) {
  if (outer.keep != ir::kAbsent) return std::nullopt;
  if (!BroadcastsAlongRows(rewriter.graph().type(where.inputs[0]).shape, type.shape)) {
    return std::nullopt;
  }
  for (const bool keep_if : {true, false}) {
    const auto fill = UniformValue(rewriter.graph(), where.inputs[keep_if ? 2 : 1]);
    if (!fill) continue;
    Scores scores = outer;
    scores.keep = where.inputs[0];
    scores.keep_if = keep_if;
    scores.fill = *fill * outer.factor;
    if (auto match = MatchScores(rewriter, where.inputs[keep_if ? 1 : 2], type, scores)) {
      return match;
    }
  }
  return std::nullopt;
}

/// `outer` is what was found between `id` and the Softmax.
std::optional<Scores> MatchScores(Rewriter& rewriter, ValueId id, const TensorType& type,
                                  Scores outer) {
  const Node* node = rewriter.Producer(id);
  if (node == nullptr || !rewriter.UsedOnlyBy(1, id)) return std::nullopt;
  if (rewriter.graph().type(id) != type) return std::nullopt;
  if (node->op == "MatMul") {
    outer.product = node;
    return outer;
  }
  if (node->op == "Add") return MatchMasked(rewriter, *node, type, outer);
  if (node->op == "Where") return MatchReplaced(rewriter, *node, type, outer);
  if (node->op != "Mul" && node->op != "Div") return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    const auto constant = UniformValue(rewriter.graph(), node->inputs[1 - i]);
    if (!constant || (node->op == "Div" && (i != 0 || *constant == 0))) continue;
    Scores scores = outer;
    scores.factor *= node->op == "Div" ? 1 / *constant : *constant;
    return MatchScores(rewriter, node->inputs[i], type, scores);
  }
  return std::nullopt;
}

/// How many keys the first query sees if `id` is a constant [queries, keys] (with further leading
/// axes of extent 1) that shows query i that many and i more, and hides all others.
template <typename Shows, typename Hides>
std::optional<std::int64_t> VisibleKeys(const ir::Graph& graph, ValueId id, std::int64_t queries,
                                        std::int64_t keys, Shows shows, Hides hides) {
  const Tensor* constant = id == ir::kAbsent ? nullptr : graph.ConstantOf(id);
  if (constant == nullptr || constant->shape().size() < 2) return std::nullopt;
  if (constant->shape()[constant->shape().size() - 2] != queries) return std::nullopt;
  if (constant->count() != queries * keys) return std::nullopt;
  const std::vector<double> values = ToDoubles(*constant);
  const auto first_row = std::span(values).first(static_cast<std::size_t>(keys));
  const std::int64_t visible = std::ranges::find_if_not(first_row, shows) - first_row.begin();
  if (visible == 0) return std::nullopt;
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t k = 0; k < keys; ++k) {
      const double value = values[static_cast<std::size_t>(i * keys + k)];
      if (k < i + visible ? !shows(value) : !hides(value)) return std::nullopt;
    }
  }
  return visible;
}

/// Takes a causal mask out of `scores`. Gives the number of keys that the first query sees.
std::int64_t TakeCausalMask(const ir::Graph& graph, Scores& scores, std::int64_t queries,
                            std::int64_t keys) {
  const double kept = scores.keep_if ? 1 : 0;
  const auto added = [&](double hidden) {
    return VisibleKeys(
        graph, scores.mask, queries, keys, [](double x) { return x == 0; },
        [hidden](double x) { return x <= hidden; });
  };
  const auto replaced = [&](double hidden) {
    if (scores.fill > hidden) return std::optional<std::int64_t>();
    return VisibleKeys(
        graph, scores.keep, queries, keys, [kept](double x) { return x == kept; },
        [kept](double x) { return x != kept; });
  };
  double hidden = kHidden;
  if (scores.mask != ir::kAbsent && scores.keep != ir::kAbsent &&
      (!added(hidden) || !replaced(hidden))) {
    // The other mask may hide all keys that the causal one shows. What that hides is seen then, as
    // if it were shown, unless nothing can make up for it.
    hidden = -std::numeric_limits<double>::infinity();
  }
  const auto by_mask = added(hidden);
  const auto by_keep = replaced(hidden);
  if (by_mask) scores.mask = ir::kAbsent;
  if (by_keep) scores.keep = ir::kAbsent;
  return std::min(by_mask.value_or(keys), by_keep.value_or(keys));
}

// ---- Operands ----------------------------------------------------------------------------------

struct Sizes {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t depth = 0;
  std::int64_t value_depth = 0;
};

constexpr std::size_t kAxes = 4;

/// Batch, head and the last two axes of a shape of rank 2 to 4.
std::array<std::int64_t, kAxes> FourAxes(std::span<const std::int64_t> axes, std::int64_t absent) {
  std::array<std::int64_t, kAxes> four;
  four.fill(absent);
  std::copy(axes.rbegin(), axes.rend(), four.rbegin());
  return four;
}

std::optional<Sizes> SizesOf(const ir::Graph& graph, const Node& product, const Node& node) {
  const Shape& scores = graph.type(product.outputs[0]).shape;
  const Shape& result = graph.type(node.outputs[0]).shape;
  const bool same_leading = scores.size() == result.size() && scores.size() >= 2 &&
                            std::equal(scores.begin(), scores.end() - 1, result.begin());
  if (!same_leading || scores.size() > kAxes) return std::nullopt;
  if (graph.type(product.inputs[0]).shape.size() < 2) return std::nullopt;
  if (graph.type(product.inputs[1]).shape.size() < 2) return std::nullopt;
  if (graph.type(node.inputs[1]).shape.size() < 2) return std::nullopt;
  const auto four = FourAxes(scores, 1);
  const Sizes sizes{.batches = four[0],
                    .heads = four[1],
                    .queries = four[2],
                    .keys = four[3],
                    .depth = graph.type(product.inputs[0]).shape.back(),
                    .value_depth = result.back()};
  const std::int64_t depths = sizes.depth + sizes.value_depth;
  if (ElementCount(scores) == 0 || sizes.depth == 0 || sizes.value_depth == 0) return std::nullopt;
  return depths <= kLargestHead / sizes.keys ? std::optional(sizes) : std::nullopt;
}

/// An operand of the fused operator: a value, and the offset and strides of batch, head, row and
/// channel.
struct Operand {
  ValueId value;
  Ints view;
  double factor;
};

/// `rows_last`: rows, not channels, are the last axis.
Operand OperandOf(const StridedView& view, bool rows_last) {
  const auto extents = FourAxes(view.shape, 1);
  auto strides = FourAxes(view.strides, 0);
  for (std::size_t i = 0; i < kAxes; ++i) {
    if (extents[i] == 1) strides[i] = i + 1 == kAxes ? 1 : 0;
  }
  if (rows_last) std::swap(strides[2], strides[3]);
  return {.value = view.source,
          .view = {view.offset, strides[0], strides[1], strides[2], strides[3]},
          .factor = view.factor};
}

/// The operand as the kernel can read it: through a view if that leaves channels, or (of keys) rows
/// together.
Operand ChooseOperand(Rewriter& rewriter, ValueId id, bool keys, bool scaled) {
  const Operand seen = OperandOf(ViewThrough(rewriter, id, scaled), keys);
  const bool together = seen.view[4] == 1 || (keys && seen.view[3] == 1);
  return together ? seen : OperandOf(WholeView(rewriter.graph(), id), keys);
}

Ints ContiguousView(const Sizes& sizes) {
  const std::int64_t head = sizes.queries * sizes.value_depth;
  return {0, sizes.heads * head, head, sizes.value_depth, 1};
}

// ---- The pattern -------------------------------------------------------------------------------

bool IsSoftmaxOfRows(const ir::Graph& graph, const Node& softmax) {
  const std::size_t rank = graph.type(softmax.inputs[0]).shape.size();
  const auto axis = NormalizeAxis(softmax.attributes.get_int("axis", -1), rank);
  return axis && static_cast<std::size_t>(*axis) + 1 == rank;
}

bool FuseAttention(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const ValueId probabilities = node.inputs[0];
  const Node* softmax = rewriter.Producer(probabilities, "Softmax");
  if (softmax == nullptr || !rewriter.UsedOnlyBy(1, probabilities)) return false;
  const TensorType& type = graph.type(probabilities);
  if (!IsBackendType(type.element) || !IsSoftmaxOfRows(graph, *softmax)) return false;
  auto scores = MatchScores(rewriter, softmax->inputs[0], type, {});
  const auto sizes = scores ? SizesOf(graph, *scores->product, node) : std::nullopt;
  if (!sizes) return false;

  const Operand q = ChooseOperand(rewriter, scores->product->inputs[0], false, true);
  const Operand k = ChooseOperand(rewriter, scores->product->inputs[1], true, true);
  const Operand v = ChooseOperand(rewriter, node.inputs[1], false, false);
  const std::int64_t visible = TakeCausalMask(graph, *scores, sizes->queries, sizes->keys);
  node.op = "FusedAttention";
  node.inputs = {q.value, k.value, v.value};
  node.attributes = {{"sizes", Ints{sizes->batches, sizes->heads, sizes->queries, sizes->keys,
                                    sizes->depth, sizes->value_depth}},
                     {"q_view", q.view},
                     {"k_view", k.view},
                     {"v_view", v.view},
                     {"y_view", ContiguousView(*sizes)},
                     {"scale", static_cast<float>(scores->factor * q.factor * k.factor)}};
  if (visible < sizes->keys) node.attributes.set("visible", visible);
  if (scores->mask != ir::kAbsent || scores->keep != ir::kAbsent) {
    node.inputs.push_back(scores->mask);
  }
  if (scores->keep != ir::kAbsent) {
    node.inputs.push_back(scores->keep);
    node.attributes.set("keep_if", std::int64_t{scores->keep_if ? 1 : 0});
    node.attributes.set("fill", static_cast<float>(scores->fill));
  }
  return true;
}

// ---- The Transpose behind ----------------------------------------------------------------------

/// The FusedAttention whose result a Transpose reorders, perhaps under another shape; null if
/// anything else reads it.
Node* AttentionBefore(Rewriter& rewriter, ValueId id) {
  if (!rewriter.UsedOnlyBy(1, id)) return nullptr;
  const Node* reshape = rewriter.Producer(id, "Reshape");
  if (reshape != nullptr) return AttentionBefore(rewriter, reshape->inputs[0]);
  return rewriter.Producer(id, "FusedAttention");
}

struct Axis {
  std::int64_t extent;
  std::int64_t stride;
};

/// Lets the attention before a Transpose write its result in the order that the Transpose makes.
bool AbsorbTranspose(Rewriter& rewriter, Node& node) {
  Node* attention = AttentionBefore(rewriter, node.inputs[0]);
  if (attention == nullptr) return false;
  const Ints extents = attention->attributes.get_ints("sizes");
  const Sizes sizes{.batches = extents[0],
                    .heads = extents[1],
                    .queries = extents[2],
                    .keys = extents[3],
                    .depth = extents[4],
                    .value_depth = extents[5]};
  if (attention->attributes.get_ints("y_view") != ContiguousView(sizes)) return false;

  // The axes of the Transpose's input, with their strides in its output.
  const ir::Graph& graph = rewriter.graph();
  const Ints permutation = PermutationOf(graph, node);
  const Shape strides = Strides(graph.type(node.outputs[0]).shape);
  std::vector<Axis> axes(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const auto axis = static_cast<std::size_t>(permutation[i]);
    axes[axis] = {graph.type(node.inputs[0]).shape[axis], strides[i]};
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });

  Ints view = {0};
  auto next = axes.begin();
  for (const std::int64_t extent : {sizes.batches, sizes.heads, sizes.queries, sizes.value_depth}) {
    const bool repeated = extent == 1;
    if (!repeated && (next == axes.end() || next->extent != extent)) return false;
    view.push_back(repeated ? 0 : (next++)->stride);
  }
  if (sizes.value_depth == 1) view.back() = 1;
  if (view.back() != 1) return false;
  BecomeFused(node, *attention);
  node.attributes.set("y_view", view);
  return true;
}

}  // namespace

absl::Status AttentionPattern(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, Node& node) {
    if (node.op == "MatMul") return FuseAttention(rewriter, node);
    return node.op == "Transpose" && AbsorbTranspose(rewriter, node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
