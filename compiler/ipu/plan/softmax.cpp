#include "compiler/ipu/plan/softmax.hpp"

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"
#include "compiler/ipu/plan/reduction.hpp"

namespace poprt::ipu {
namespace {

/// Elements between neighbours along the axis.
std::uint64_t AxisStride(const Shape& shape, std::size_t axis) {
  std::uint64_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) {
    stride *= static_cast<std::uint64_t>(shape[i]);
  }
  return stride;
}

/// Whether a tile may hold a whole row and what is computed from it.
bool RowFitsTile(StepBuilder& steps, const TensorType& type, std::uint64_t row) {
  const auto memory = static_cast<double>(steps.target().sram_bytes_per_tile);
  return static_cast<double>(2 * row * ElementBytes(type.element)) <=
         steps.options().available_memory_proportion * memory;
}

/// Whole rows along the axis on every tile; rows too long for that stay where they are, and the
/// reductions go over tiles.
Placed BringRowsTogether(StepBuilder& steps, const Placed& x, std::size_t axis) {
  const auto row = static_cast<std::uint64_t>(x.type.shape[axis]);
  const std::uint64_t stride = AxisStride(x.type.shape, axis);
  const bool together = !x.constant && x.layout.parts == 1 && x.layout.stride == stride;
  if (together || !RowFitsTile(steps, x.type, row)) return x;
  Layout rows = RowLayout(steps.target(), steps.tiles(), x.type, row);
  rows.run = row;
  rows.stride = stride;
  if (stride != 1) rows.signature = MixSignature(rows.signature, stride);
  rows.mapping.grain_bytes = row * ElementBytes(x.type.element);
  return Rearrange(steps, "softmax rows", x, rows, MovedAs::kResult);
}

}  // namespace

Placed AddSoftmax(StepBuilder& steps, const Placed& x, std::size_t axis, bool logarithm) {
  const TensorType& type = x.type;
  std::vector<bool> axes(type.shape.size(), false);
  axes[axis] = true;
  const TensorType sums = KeptType(type, axes, ElementType::kFloat32);
  const TensorType kept = KeptType(type, axes, type.element);
  Placed rows = BringRowsTogether(steps, x, axis);
  if (!steps.options().enable_non_stable_softmax) {
    const Placed most = AddReduction(steps, rows,
                                     {.name = "reduce max",
                                      .operation = ReduceOperation::kMax,
                                      .axes = axes,
                                      .result = kept,
                                      .partials = FormatOf(type)});
    rows = AddBinary(steps, "subtract max", ElementwiseOp::kSubtract, rows, most, type);
  }
  if (logarithm) rows.overwrite = false;  // read again after the sum
  const Placed exponentials = AddUnary(steps, "exp", ElementwiseOp::kExp, rows, type);
  Placed sum =
      AddReduction(steps, exponentials, {.name = "reduce add", .axes = axes, .result = sums});
  if (logarithm) {
    sum = AddCast(steps, AddUnary(steps, "log", ElementwiseOp::kLog, sum, sums), type.element);
    return AddBinary(steps, "subtract log", ElementwiseOp::kSubtract, rows, sum, type);
  }
  sum =
      AddCast(steps, AddUnary(steps, "inverse", ElementwiseOp::kInverse, sum, sums), type.element);
  return AddBinary(steps, "multiply", ElementwiseOp::kMultiply, exponentials, sum, type);
}

}  // namespace poprt::ipu
