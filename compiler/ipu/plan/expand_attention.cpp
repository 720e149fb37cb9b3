#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/matrix_operands.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"
#include "compiler/ipu/plan/softmax.hpp"

/// Attention as its parts: scores, scale, mask, softmax, values.
namespace poprt::ipu {
namespace {

struct AttentionSizes {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t depth = 1;
  std::int64_t value_depth = 1;

  Shape Scores() const { return {batches, heads, queries, keys}; }
};

/// Heads that are split out of channels are views: [batch, rows, heads x depth] with the heads
/// before the rows.
Placed Heads(const Placed& x, std::int64_t batches, std::int64_t rows, std::int64_t heads,
             std::int64_t depth) {
  Placed view = x;
  view.type.shape = {batches, heads, rows, depth};
  const bool fits = batches * rows * heads * depth == static_cast<std::int64_t>(Elements(x.type));
  if (fits && x.type.shape.size() < 4) {
    view.layout = TransposedLayout(x.layout, {batches, rows, heads, depth}, {0, 2, 1, 3});
  }
  return view;
}

void AddAttention(Operation& operation, const AttentionSizes& sizes, std::size_t mask_input,
                  bool scaled) {
  StepBuilder& steps = operation.steps();
  const Placed q =
      Heads(operation.input(0), sizes.batches, sizes.queries, sizes.heads, sizes.depth);
  Placed k = Heads(operation.input(1), sizes.batches, sizes.keys, sizes.heads, sizes.depth);
  const Placed v =
      Heads(operation.input(2), sizes.batches, sizes.keys, sizes.heads, sizes.value_depth);
  const TensorType scores_type{q.type.element, sizes.Scores()};
  k.layout = TransposedLayout(k.layout, k.type.shape, {0, 1, 3, 2});
  std::swap(k.type.shape[2], k.type.shape[3]);
  const PlannedProduct product = AddMatMul(steps, q, k, scores_type);
  Placed scores = product.result;
  steps.Hold(scores.layout.mapping.bytes_per_tile);
  if (scaled) scores = AddScalar(steps, "scale", ElementwiseOp::kMultiply, scores, scores_type);
  if (operation.has_input(mask_input)) {
    scores = AddBinary(steps, "add mask", ElementwiseOp::kAdd, scores, operation.input(mask_input),
                       scores_type);
  }
  const Placed weights = AddSoftmax(steps, scores, 3);
  const TensorType heads_type{operation.output_type(0).element,
                              {sizes.batches, sizes.heads, sizes.queries, sizes.value_depth}};
  const PlannedProduct values = AddMatMul(steps, weights, v, heads_type);
  Placed y = values.result;
  if (operation.output_type(0).shape != heads_type.shape) {
    y.layout = TransposedLayout(y.layout, heads_type.shape, {0, 2, 1, 3});
  }
  y.type = operation.output_type(0);
  operation.grid = product.grid + "; " + values.grid;
  const auto pairs =
      static_cast<std::uint64_t>(sizes.batches * sizes.heads * sizes.queries * sizes.keys);
  operation.flops = 2 * pairs * static_cast<std::uint64_t>(sizes.depth + sizes.value_depth);
  operation.SetOutput(0, y);
}

void ExpandFusedAttention(Operation& operation) {
  const Ints s = operation.node().attributes.get_ints("sizes");
  if (s.size() != 6) {
    ExpandGeneric(operation);
    return;
  }
  AddAttention(operation, {s[0], s[1], s[2], s[3], s[4], s[5]}, 3, true);
}

std::int64_t Heads(const Operation& operation, const char* attribute, const Shape& shape) {
  if (shape.size() == 4) return shape[1];
  return std::max<std::int64_t>(operation.node().attributes.get_int(attribute, 1), 1);
}

void ExpandAttention(Operation& operation) {
  const Shape& q = operation.input(0).type.shape;
  const Shape& k = operation.input(1).type.shape;
  const Shape& v = operation.input(2).type.shape;
  if (q.size() < 3 || k.size() < 3 || v.size() < 3) {
    ExpandGeneric(operation);
    return;
  }
  const std::int64_t heads = Heads(operation, "q_num_heads", q);
  const std::int64_t kv_heads = Heads(operation, "kv_num_heads", k);
  AttentionSizes sizes;
  sizes.batches = q[0];
  sizes.heads = heads;
  sizes.queries = q[q.size() - 2];
  sizes.keys = k[k.size() - 2];
  sizes.depth = q.size() == 4 ? q[3] : q[2] / heads;
  sizes.value_depth = v.size() == 4 ? v[3] : v[2] / kv_heads;
  AddAttention(operation, sizes, 3, true);
}

/// Halves of every head change places, then two products and a sum.
void ExpandRotary(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const TensorType& type = operation.output_type(0);
  steps.Copy("rotate halves", x.layout.mapping.tiles, x.layout.mapping.bytes_per_tile,
             steps.target().vector_bytes);
  const Placed a = AddBinary(steps, "multiply cos", ElementwiseOp::kMultiply, x, x, type);
  const Placed b = AddBinary(steps, "multiply sin", ElementwiseOp::kMultiply, x, x, type);
  operation.SetOutput(0, AddBinary(steps, "add", ElementwiseOp::kAdd, a, b, type));
}

constexpr ExpandRow kRows[] = {
    {"Attention", ExpandAttention},
    {"FusedAttention", ExpandFusedAttention},
    {"RotaryEmbedding", ExpandRotary},
};

}  // namespace

std::span<const ExpandRow> AttentionRules() { return kRows; }

}  // namespace poprt::ipu
