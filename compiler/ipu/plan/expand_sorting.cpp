#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/operation.hpp"

/// Operators that order or pick elements by their values.
namespace poprt::ipu {
namespace {

std::uint64_t CeilLog2(std::uint64_t n) {
  std::uint64_t log = 0;
  while ((std::uint64_t{1} << log) < n) ++log;
  return log;
}

/// A bitonic network as popops::topK has: `rounds` times elements are compared with and exchanged
/// for ones on other tiles.
Placed AddRounds(StepBuilder& steps, const Placed& x, std::uint64_t rounds) {
  Placed operand = x;
  if (x.constant) operand.layout = LinearLayout(steps.target(), steps.tiles(), x.type);
  const std::uint64_t bytes = operand.layout.mapping.bytes_per_tile;
  const TensorType bools{ElementType::kBool, x.type.shape};
  steps.Hold(2 * bytes);
  const RepeatScope repeat(steps, std::max<std::uint64_t>(rounds, 1));
  steps.Exchange("exchange pairs", operand.layout.mapping.tiles,
                 {.bytes_received = bytes, .bytes_sent = bytes, .sends = 1, .receives = 1});
  const Placed less = AddBinary(steps, "compare", ElementwiseOp::kCompare, operand, operand, bools);
  return AddTernary(steps, "select", ElementwiseOp::kSelect, {less, operand, operand}, x.type);
}

void SetOutputs(Operation& operation, const Placed& like) {
  StepBuilder& steps = operation.steps();
  for (std::size_t i = 0; i < operation.output_count(); ++i) {
    if (!operation.has_output(i)) continue;
    const TensorType& type = operation.output_type(i);
    operation.SetOutput(i, {type, LinearLayout(steps.target(), steps.tiles(), type), false, true});
    steps.Copy("store", like.layout.mapping.tiles,
               operation.output(i).layout.mapping.bytes_per_tile, ElementBytes(type.element));
  }
}

/// log2(n) x (log2(k) + 1) rounds: rows are sorted in pieces of k, halves drop out. Values and
/// indices move together.
void ExpandTopK(Operation& operation) {
  const Placed& x = operation.input(0);
  const auto axis =
      NormalizeAxis(operation.node().attributes.get_int("axis", -1), x.type.shape.size());
  const std::size_t position = axis ? static_cast<std::size_t>(*axis) : 0;
  const auto extent = static_cast<std::uint64_t>(x.type.shape.empty() ? 1 : x.type.shape[position]);
  const Shape& out = operation.output_type(0).shape;
  const auto k =
      static_cast<std::uint64_t>(out.empty() ? 1 : std::max<std::int64_t>(out[position], 1));
  SetOutputs(operation, AddRounds(operation.steps(), x, 2 * CeilLog2(extent) * (CeilLog2(k) + 1)));
}

/// A whole sort: log2(n) (log2(n) + 1) / 2 rounds.
void ExpandSort(Operation& operation) {
  const Placed& x = operation.input(0);
  const std::uint64_t log = CeilLog2(Elements(x.type));
  SetOutputs(operation, AddRounds(operation.steps(), x, log * (log + 1) / 2));
}

/// Positions by running sums of what is kept, then a move of every element: log2(n) rounds.
void ExpandCompact(Operation& operation) {
  const Placed& x = operation.input(0);
  SetOutputs(operation, AddRounds(operation.steps(), x, CeilLog2(Elements(x.type)) + 1));
}

/// As many rounds as boxes may be chosen, each compares all boxes with the best one left: about
/// ten operations a box for the area in common.
void ExpandNonMaxSuppression(Operation& operation) {
  constexpr std::uint64_t kOperationsPerBox = 10;
  const Placed& scores = operation.input(1);
  const Shape& out = operation.output_type(0).shape;
  const auto rounds =
      static_cast<std::uint64_t>(out.empty() ? 1 : std::max<std::int64_t>(out[0], 1));
  StepBuilder& steps = operation.steps();
  {
    const RepeatScope boxes(steps, kOperationsPerBox);
    const RepeatScope chosen(steps, rounds);
    AddBinary(steps, "intersect", ElementwiseOp::kMultiply, scores, scores, scores.type);
  }
  SetOutputs(operation, AddRounds(steps, scores, rounds));
}

constexpr ExpandRow kRows[] = {
    {"TopK", ExpandTopK},
    {"Unique", ExpandSort},
    {"NonZero", ExpandCompact},
    {"Compress", ExpandCompact},
    {"NonMaxSuppression", ExpandNonMaxSuppression},
};

}  // namespace

std::span<const ExpandRow> SortingRules() { return kRows; }

}  // namespace poprt::ipu
