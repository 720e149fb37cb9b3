#include "compiler/ipu/plan/reduction.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/reduction_vertex.hpp"
#include "compiler/ipu/plan/elementwise_codelet.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

namespace poprt::ipu {
namespace {

/// What becomes of the axis along which elements are adjacent in memory.
struct ReducedInner {
  bool reduced = false;
  std::uint64_t stride = 1;  ///< in the result
};

ReducedInner FindInner(const Placed& x, const std::vector<bool>& axes) {
  const Shape& shape = x.type.shape;
  const auto axis = InnerAxis(x.layout, shape);
  if (!axis) return {!axes.empty() && axes.back(), 1};
  std::uint64_t behind = 1;
  std::uint64_t kept = 1;
  for (std::size_t i = *axis + 1; i < shape.size(); ++i) {
    behind *= static_cast<std::uint64_t>(shape[i]);
    if (!axes[i]) kept *= static_cast<std::uint64_t>(shape[i]);
  }
  return {axes[*axis], kept * (x.layout.stride / behind)};
}

/// Bytes that a tile sends another one at least: outputs go to few enough tiles.
constexpr std::uint64_t kPieceBytes = 16;

/// How the work of one reduction is divided.
struct Shares {
  std::uint64_t tiles = 1;     ///< that have a part of the operand
  std::uint64_t sharing = 1;   ///< tiles that have partials of the same output
  std::uint64_t outputs = 1;   ///< of a tile, before tiles exchange
  std::uint64_t partials = 1;  ///< of an output, on a tile
};

Shares Divide(const Placed& x, std::uint64_t outputs, bool inner) {
  Shares shares;
  const std::uint64_t elements = std::max<std::uint64_t>(Elements(x.type), 1);
  const std::uint64_t fan_in = std::max<std::uint64_t>(elements / outputs, 1);
  shares.tiles = std::max(x.layout.mapping.tiles.count, 1U);
  const std::uint64_t across = inner ? x.layout.parts : 1;
  shares.sharing =
      std::min({fan_in, shares.tiles, std::max(across, CeilDivide(shares.tiles, outputs))});
  shares.outputs = CeilDivide(outputs * shares.sharing, shares.tiles);
  shares.partials = CeilDivide(fan_in, shares.sharing);
  return shares;
}

std::string_view OperationName(ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::kAdd:
      return "ADD";
    case ReduceOperation::kSquareAdd:
      return "SQUARE_ADD";
    case ReduceOperation::kMultiply:
      return "MUL";
    case ReduceOperation::kMax:
      return "MAX";
    case ReduceOperation::kMin:
      return "MIN";
  }
  return "";
}

/// popops' specialisations.
std::string_view LayoutName(ReductionLayout layout) {
  switch (layout) {
    case ReductionLayout::kStrided:
      return "STRIDED_REDUCE";
    case ReductionLayout::kContiguous:
      return "ALL_REGIONS_CONTINUOUS";
    case ReductionLayout::kScalar:
      return "SCALAR_OUTPUT_SINGLE_INPUT";
    case ReductionLayout::kGeneral:
      return "DEFAULT";
  }
  return "";
}

/// Each operation, pair of formats and specialisation is machine code of its own.
std::string Codelet(ReduceOperation operation, const ReductionVertex& vertex) {
  std::string name = "popops::Reduce<";
  name += OperationName(operation);
  name += ",";
  name += FormatName(vertex.input);
  name += ",";
  name += FormatName(vertex.output);
  name += ",";
  name += LayoutName(vertex.layout);
  return name + ">";
}

/// Workers share the outputs of a tile: rows that are contiguous by one, others by vectors.
std::uint64_t Vertices(const Target& target, const ReductionVertex& vertex) {
  const std::uint64_t grain = vertex.layout == ReductionLayout::kStrided
                                  ? target.vector_bytes / FormatBytes(vertex.input)
                                  : 1;
  return std::clamp<std::uint64_t>(vertex.outputs / grain, 1, target.worker_threads);
}

void ComputeReduction(StepBuilder& steps, const std::string& name, ReduceOperation operation,
                      TileRange tiles, const ReductionVertex& vertex) {
  steps.Compute({.name = name,
                 .vertex = Codelet(operation, vertex),
                 .tiles = tiles,
                 .vertex_cycles = ReductionVertexCycles(steps.target(), vertex),
                 .vertices = Vertices(steps.target(), vertex)});
}

/// Brings partials together: in one step, or in two when too many tiles share an output.
void CombinePartials(StepBuilder& steps, const Reduction& reduction, TileRange tiles,
                     const Shares& shares) {
  const std::uint64_t element = FormatBytes(reduction.partials);
  const auto root = static_cast<std::uint64_t>(std::ceil(std::sqrt(shares.sharing)));
  // Section 2.8: straight to the final stage if the fan-in is below twice the root of the tiles.
  const bool direct =
      static_cast<double>(shares.sharing) < 2 * std::sqrt(static_cast<double>(shares.tiles));
  std::uint64_t left = shares.sharing;
  std::uint64_t outputs = shares.outputs;
  while (left > 1) {
    const std::uint64_t fan_in = direct ? left : std::min(left, root);
    const std::uint64_t result = CeilDivide(outputs, fan_in);
    const std::uint64_t bytes = result * fan_in * element;
    const std::uint64_t pieces = std::clamp<std::uint64_t>(bytes / kPieceBytes, 1, fan_in);
    const std::uint64_t results = CeilDivide(outputs * shares.tiles, left);
    steps.GatheringExchange("exchange partials of " + reduction.name, tiles,
                            {.bytes_received = bytes,
                             .bytes_sent = outputs * element,
                             .sends = pieces,
                             .receives = pieces},
                            CeilDivide(results * CeilDivide(left, fan_in), result));
    left = CeilDivide(left, fan_in);
    // Squares are added as they are.
    const ReduceOperation operation = reduction.operation == ReduceOperation::kSquareAdd
                                          ? ReduceOperation::kAdd
                                          : reduction.operation;
    ComputeReduction(steps, reduction.name + ", partials", operation, tiles,
                     {.input = reduction.partials,
                      .output = left > 1 ? reduction.partials : FormatOf(reduction.result),
                      .layout = ReductionLayout::kStrided,
                      .outputs = result,
                      .partials = fan_in});
    outputs = result;
  }
}

Layout ResultLayout(const Placed& x, const Reduction& reduction, const ReducedInner& inner) {
  std::uint64_t salt = 0;
  for (const bool axis : reduction.axes) salt = salt * 2 + (axis ? 1 : 0);
  const std::uint64_t outputs = std::max<std::uint64_t>(Elements(reduction.result), 1);
  Layout layout = ResizedLayout(x.layout, outputs, Elements(x.type),
                                ElementBytes(reduction.result.element), salt);
  if (inner.reduced) {
    layout.run = layout.stride = layout.parts = 1;
  } else {
    layout.stride = inner.stride;
  }
  if (x.layout.parts == 1) layout.home = x.layout.signature;
  layout.mapping.grain_bytes = layout.run * ElementBytes(reduction.result.element);
  return layout;
}

}  // namespace

std::vector<bool> ReducedAxes(std::size_t rank, const std::vector<std::int64_t>& axes) {
  std::vector<bool> reduced(rank, axes.empty());
  for (const std::int64_t axis : axes) {
    const auto normal = NormalizeAxis(axis, rank);
    if (normal) reduced[static_cast<std::size_t>(*normal)] = true;
  }
  return reduced;
}

TensorType KeptType(const TensorType& type, const std::vector<bool>& axes, ElementType element) {
  TensorType kept{element, type.shape};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i]) kept.shape[i] = 1;
  }
  return kept;
}

Placed AddReduction(StepBuilder& steps, const Placed& x, const Reduction& reduction) {
  Placed operand = x;
  if (x.constant) operand.layout = LinearLayout(steps.target(), steps.tiles(), x.type);
  const std::uint64_t outputs = std::max<std::uint64_t>(Elements(reduction.result), 1);
  const ReducedInner inner = FindInner(operand, reduction.axes);
  const Shares shares = Divide(operand, outputs, inner.reduced);
  const TileRange tiles = operand.layout.mapping.tiles;
  Placed result{reduction.result, ResultLayout(operand, reduction, inner), false, true};
  if (Elements(x.type) <= outputs) return result;
  const bool combine = shares.sharing > 1;
  steps.Hold(shares.outputs * FormatBytes(reduction.partials));
  ComputeReduction(steps, reduction.name, reduction.operation, tiles,
                   {.input = FormatOf(x.type),
                    .output = combine ? reduction.partials : FormatOf(reduction.result),
                    .layout = shares.outputs == 1 ? ReductionLayout::kScalar
                              : inner.reduced     ? ReductionLayout::kContiguous
                                                  : ReductionLayout::kStrided,
                    .outputs = shares.outputs,
                    .partials = shares.partials});
  if (combine) CombinePartials(steps, reduction, tiles, shares);
  steps.Release(shares.outputs * FormatBytes(reduction.partials));
  return result;
}

}  // namespace poprt::ipu
