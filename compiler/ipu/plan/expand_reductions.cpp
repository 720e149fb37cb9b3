#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/reduction.hpp"

/// Reductions: what is done to elements before and to results after, around one reduction.
namespace poprt::ipu {
namespace {

std::vector<bool> AxesOf(const Operation& operation) {
  const std::size_t rank = operation.input(0).type.shape.size();
  const Ints axes = operation.node().attributes.get_ints("axes");
  const bool none =
      axes.empty() && operation.node().attributes.get_int("noop_with_empty_axes", 0) != 0;
  if (none) return std::vector<bool>(rank, false);
  return ReducedAxes(rank, axes);
}

ReduceOperation OperationOf(std::string_view op) {
  if (op == "ReduceMax") return ReduceOperation::kMax;
  if (op == "ReduceMin") return ReduceOperation::kMin;
  if (op == "ReduceProd") return ReduceOperation::kMultiply;
  const bool squares = op == "ReduceL2" || op == "ReduceSumSquare";
  return squares ? ReduceOperation::kSquareAdd : ReduceOperation::kAdd;
}

/// Squares are taken by the reduction itself, which has the same cost as adding (section 2.8).
void ExpandReduce(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const std::string_view op = operation.op();
  const TensorType& type = operation.output_type(0);
  Placed x = operation.input(0);
  const bool sum = op != "ReduceMax" && op != "ReduceMin" && op != "ReduceProd";
  if (op == "ReduceL1") x = AddUnary(steps, "abs", ElementwiseOp::kAbs, x, x.type);
  if (op == "ReduceLogSumExp") x = AddUnary(steps, "exp", ElementwiseOp::kExp, x, x.type);
  const NumberFormat format = FormatOf(x.type);
  Placed y =
      AddReduction(steps, x,
                   {.name = std::string(op),
                    .operation = OperationOf(op),
                    .axes = AxesOf(operation),
                    .result = type,
                    .partials = sum && IsFloatFormat(format) ? NumberFormat::kFloat32 : format});
  if (op == "ReduceMean") y = AddScalar(steps, "scale", ElementwiseOp::kMultiply, y, type);
  if (op == "ReduceL2") y = AddUnary(steps, "sqrt", ElementwiseOp::kSqrt, y, type);
  if (op == "ReduceLogSum" || op == "ReduceLogSumExp") {
    y = AddUnary(steps, "log", ElementwiseOp::kLog, y, type);
  }
  operation.flops = Elements(operation.input(0).type);
  operation.SetOutput(0, y);
}

/// The largest value, then the positions that have it, then the smallest of these.
void ExpandArg(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const std::size_t rank = x.type.shape.size();
  const auto axes = ReducedAxes(rank, {operation.node().attributes.get_int("axis", 0)});
  const TensorType kept = KeptType(x.type, axes, x.type.element);
  const Placed most = AddReduction(steps, x,
                                   {.name = "reduce value",
                                    .operation = ReduceOperation::kMax,
                                    .axes = axes,
                                    .result = kept,
                                    .partials = FormatOf(x.type)});
  const Placed same = AddBinary(steps, "equal", ElementwiseOp::kCompare, x, most,
                                {ElementType::kBool, x.type.shape});
  const Placed positions = AddTernary(steps, "select index", ElementwiseOp::kSelect, {same},
                                      {ElementType::kInt32, x.type.shape});
  operation.SetOutput(0, AddReduction(steps, positions,
                                      {.name = "reduce index",
                                       .operation = ReduceOperation::kMin,
                                       .axes = axes,
                                       .result = operation.output_type(0),
                                       .partials = NumberFormat::kInt32}));
}

/// log2(n) rounds in each of which every element takes in one that is a power of two away.
void ExpandCumulative(Operation& operation) {
  StepBuilder& steps = operation.steps();
  Placed x = operation.input(0);
  const Ints axes = operation.node().attributes.get_ints("axis");
  const auto axis = NormalizeAxis(axes.empty() ? 0 : axes[0], x.type.shape.size());
  const std::int64_t extent = axis ? x.type.shape[static_cast<std::size_t>(*axis)] : 1;
  std::uint64_t rounds = 1;
  while ((std::int64_t{1} << rounds) < extent) ++rounds;
  const RepeatScope repeat(steps, rounds);
  steps.Hold(x.layout.mapping.bytes_per_tile);
  steps.Exchange("shift", x.layout.mapping.tiles,
                 {.bytes_received = x.layout.mapping.bytes_per_tile,
                  .bytes_sent = x.layout.mapping.bytes_per_tile,
                  .sends = 1,
                  .receives = 1});
  const ElementwiseOp op =
      operation.op() == "CumSum" ? ElementwiseOp::kAdd : ElementwiseOp::kMultiply;
  operation.SetOutput(
      0, AddBinary(steps, std::string(operation.op()), op, x, x, operation.output_type(0)));
}

constexpr ExpandRow kRows[] = {
    {"ReduceL1", ExpandReduce},        {"ReduceL2", ExpandReduce},   {"ReduceLogSum", ExpandReduce},
    {"ReduceLogSumExp", ExpandReduce}, {"ReduceMax", ExpandReduce},  {"ReduceMean", ExpandReduce},
    {"ReduceMin", ExpandReduce},       {"ReduceProd", ExpandReduce}, {"ReduceSum", ExpandReduce},
    {"ReduceSumSquare", ExpandReduce}, {"ArgMax", ExpandArg},        {"ArgMin", ExpandArg},
    {"CumProd", ExpandCumulative},     {"CumSum", ExpandCumulative},
};

}  // namespace

std::span<const ExpandRow> ReductionRules() { return kRows; }

}  // namespace poprt::ipu
