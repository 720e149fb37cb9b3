#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/normalization.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/reduction.hpp"
#include "compiler/ipu/plan/softmax.hpp"

/// Operators that normalise along axes.
namespace poprt::ipu {
namespace {

std::size_t AxisOf(const Operation& operation, std::int64_t otherwise) {
  const std::size_t rank = operation.input(0).type.shape.size();
  const std::int64_t axis = operation.node().attributes.get_int("axis", otherwise);
  const auto normal = NormalizeAxis(axis, rank);
  return normal ? static_cast<std::size_t>(*normal) : 0;
}

std::optional<Placed> Optional(const Operation& operation, std::size_t i) {
  if (!operation.has_input(i)) return std::nullopt;
  return operation.input(i);
}

/// Four operations an element for the statistics and four to apply them.
constexpr std::uint64_t kFlopsPerElement = 8;

void SetNormalized(Operation& operation, const Normalization& normalization) {
  operation.SetOutput(0, AddNormalization(operation.steps(), operation.input(0), normalization));
  operation.flops = kFlopsPerElement * Elements(operation.output_type(0));
}

void ExpandLayerNorm(Operation& operation) {
  const std::size_t first = AxisOf(operation, -1);
  std::vector<bool> axes(operation.input(0).type.shape.size(), false);
  for (std::size_t i = first; i < axes.size(); ++i) axes[i] = true;
  SetNormalized(operation, {.axes = axes,
                            .centered = operation.op() != "RMSNormalization",
                            .scale = Optional(operation, 1),
                            .bias = Optional(operation, 2)});
}

/// Statistics over all but the first two axes, of a channel or, the cost being alike, of a group.
void ExpandChannelNorm(Operation& operation) {
  std::vector<bool> axes(operation.input(0).type.shape.size(), true);
  for (std::size_t i = 0; i < std::min<std::size_t>(axes.size(), 2); ++i) axes[i] = false;
  if (operation.op() == "GroupNormalization" && axes.size() > 1) axes[1] = true;
  if (operation.op() == "MeanVarianceNormalization") {
    axes = ReducedAxes(axes.size(), operation.node().attributes.get_ints("axes", {0, 2, 3}));
  }
  SetNormalized(operation,
                {.axes = axes, .scale = Optional(operation, 1), .bias = Optional(operation, 2)});
}

/// The statistics are known: one product and one sum with factors of each channel.
void ExpandBatchNorm(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const TensorType& type = operation.output_type(0);
  const Placed& variance = operation.input(4);
  Placed factor = AddScalar(steps, "inverse std dev", ElementwiseOp::kVarianceToInverseStdDev,
                            variance, variance.type);
  factor = AddBinary(steps, "scale factor", ElementwiseOp::kMultiply, factor, operation.input(1),
                     variance.type);
  Placed y =
      AddBinary(steps, "multiply", ElementwiseOp::kMultiply, operation.input(0), factor, type);
  operation.SetOutput(0, AddBinary(steps, "add", ElementwiseOp::kAdd, y, operation.input(2), type));
  operation.flops = 2 * Elements(type);
}

void ExpandSoftmax(Operation& operation) {
  const Placed& x = operation.input(0);
  if (x.type.shape.empty()) {
    operation.SetOutput(0, AddUnary(operation.steps(), "exp", ElementwiseOp::kExp, x, x.type));
    return;
  }
  const bool logarithm = operation.op() == "LogSoftmax";
  operation.SetOutput(0, AddSoftmax(operation.steps(), x, AxisOf(operation, -1), logarithm));
  operation.flops = 5 * Elements(x.type);
}

/// The largest of every row becomes 1.
void ExpandHardmax(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const auto axes =
      ReducedAxes(x.type.shape.size(), {static_cast<std::int64_t>(AxisOf(operation, -1))});
  const Placed most = AddReduction(steps, x,
                                   {.name = "reduce max",
                                    .operation = ReduceOperation::kMax,
                                    .axes = axes,
                                    .result = KeptType(x.type, axes, x.type.element),
                                    .partials = FormatOf(x.type)});
  const Placed same = AddBinary(steps, "equal", ElementwiseOp::kCompare, x, most,
                                {ElementType::kBool, x.type.shape});
  operation.SetOutput(0, AddCast(steps, same, operation.output_type(0).element));
}

void ExpandLpNorm(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const auto axes =
      ReducedAxes(x.type.shape.size(), {static_cast<std::int64_t>(AxisOf(operation, -1))});
  const TensorType kept = KeptType(x.type, axes, x.type.element);
  Placed norm = AddReduction(steps, x,
                             {.name = "reduce norm",
                              .operation = ReduceOperation::kSquareAdd,
                              .axes = axes,
                              .result = kept});
  norm = AddUnary(steps, "sqrt", ElementwiseOp::kSqrt, norm, kept);
  operation.SetOutput(0, AddBinary(steps, "divide", ElementwiseOp::kDivide, x, norm, x.type));
}

/// Squares, a sum over a window of channels, a power and a product.
void ExpandLrn(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const auto size = static_cast<std::uint64_t>(operation.node().attributes.get_int("size", 1));
  Placed sums = AddUnary(steps, "square", ElementwiseOp::kSquare, x, x.type);
  {
    const RepeatScope window(steps, std::max<std::uint64_t>(size, 1));
    sums = AddBinary(steps, "add neighbours", ElementwiseOp::kAdd, sums, sums, x.type);
  }
  sums = AddScalar(steps, "power", ElementwiseOp::kPower, sums, x.type);
  operation.SetOutput(0, AddBinary(steps, "multiply", ElementwiseOp::kMultiply, x, sums, x.type));
}

constexpr ExpandRow kRows[] = {
    {"LayerNormalization", ExpandLayerNorm},
    {"RMSNormalization", ExpandLayerNorm},
    {"InstanceNormalization", ExpandChannelNorm},
    {"GroupNormalization", ExpandChannelNorm},
    {"MeanVarianceNormalization", ExpandChannelNorm},
    {"BatchNormalization", ExpandBatchNorm},
    {"Softmax", ExpandSoftmax},
    {"LogSoftmax", ExpandSoftmax},
    {"Hardmax", ExpandHardmax},
    {"LpNormalization", ExpandLpNorm},
    {"LRN", ExpandLrn},
};

}  // namespace

std::span<const ExpandRow> NormalizationRules() { return kRows; }

}  // namespace poprt::ipu
