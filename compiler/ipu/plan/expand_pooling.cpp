#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/pooling_vertex.hpp"
#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/extents.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"
#include "compiler/ipu/plan/reduction.hpp"

/// Pooling (section 2.8): inputs with channels together, rows of outputs divided among tiles.
namespace poprt::ipu {
namespace {

/// Channels that lie together: a vector, which is what the vertices take at once.
std::uint64_t ChannelGroup(const Target& target, const TensorType& type) {
  const std::uint64_t vector = VectorElements(target, FormatOf(type));
  return std::min<std::uint64_t>(vector, static_cast<std::uint64_t>(type.shape[1]));
}

/// Images, channel groups and rows over all tiles; channels together.
Layout ChannelLayout(StepBuilder& steps, const TensorType& type) {
  const std::uint64_t channels = static_cast<std::uint64_t>(type.shape[1]);
  const std::uint64_t group = ChannelGroup(steps.target(), type);
  return GridLayout(
      steps.tiles(), type,
      {.stride = Volume(type.shape, 2, type.shape.size()),
       .extent = channels,
       .group = group,
       .parts = std::min<std::uint64_t>(CeilDivide(channels, group), steps.tiles().count),
       .others = std::max<std::uint64_t>(steps.tiles().count / CeilDivide(channels, group), 1)});
}

/// The input as it is where its channels lie together, else brought into that order.
Placed WithChannels(StepBuilder& steps, const Placed& x) {
  const Layout wanted = ChannelLayout(steps, x.type);
  const bool together = !x.constant && x.layout.stride == wanted.stride &&
                        x.layout.run % ChannelGroup(steps.target(), x.type) == 0;
  return together ? x : Rearrange(steps, "channels", x, wanted);
}

void ExpandPool(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const TensorType& type = operation.output_type(0);
  const Placed x = WithChannels(steps, operation.input(0));
  const Ints kernel = operation.node().attributes.get_ints("kernel_shape");
  std::uint64_t positions = 1;
  for (const std::int64_t extent : kernel) positions *= static_cast<std::uint64_t>(extent);
  Layout to = x.layout;
  const std::uint64_t used = std::max(x.layout.mapping.tiles.count, 1U);
  to.mapping.bytes_per_tile = CeilDivide(Elements(type), used) * ElementBytes(type.element);
  to.stride = Volume(type.shape, 2, type.shape.size());
  to.signature = MixSignature(x.layout.signature, Elements(type));
  const Placed y{type, to, false, true};
  const std::uint64_t group = ChannelGroup(steps.target(), x.type);
  const std::uint64_t row =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(type.shape.back()) * group, 1);
  // Windows reach over the border of what a tile has.
  const std::uint64_t window =
      std::min(x.layout.mapping.bytes_per_tile, to.mapping.bytes_per_tile * positions);
  steps.Hold(window);
  Broadcast(steps, "exchange windows", to.mapping.tiles, window, x);
  steps.Compute({.name = std::string(operation.op()),
                 .vertex = operation.op() == "MaxPool" ? "popnn::MaxPooling" : "popnn::SumPooling",
                 .tiles = to.mapping.tiles,
                 .vertex_cycles = PoolingVertexCycles(
                     steps.target(), {.format = FormatOf(x.type),
                                      .rows = CeilDivide(ElementsPerTile(y), row),
                                      .row_elements = std::min(row, ElementsPerTile(y)),
                                      .kernel_positions = positions})});
  operation.flops = positions * Elements(type);
  operation.SetOutput(0, y);
}

void ExpandLpPool(Operation& operation) {
  ExpandPool(operation);
  Placed y = operation.output(0);
  operation.SetOutput(0, AddScalar(operation.steps(), "root", ElementwiseOp::kPower, y, y.type));
}

/// A reduction over all spatial axes.
void ExpandGlobalPool(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const TensorType& type = operation.output_type(0);
  std::vector<bool> axes(x.type.shape.size(), true);
  for (std::size_t i = 0; i < std::min<std::size_t>(axes.size(), 2); ++i) axes[i] = false;
  const bool most = operation.op() == "GlobalMaxPool";
  Placed y = AddReduction(steps, x,
                          {.name = most ? "reduce max" : "reduce add",
                           .operation = most ? ReduceOperation::kMax : ReduceOperation::kAdd,
                           .axes = axes,
                           .result = type,
                           .partials = most ? FormatOf(type) : NumberFormat::kFloat32});
  if (!most) y = AddScalar(steps, "scale", ElementwiseOp::kMultiply, y, type);
  operation.flops = Elements(x.type);
  operation.SetOutput(0, y);
}

constexpr ExpandRow kRows[] = {
    {"MaxPool", ExpandPool},
    {"AveragePool", ExpandPool},
    {"LpPool", ExpandLpPool},
    {"GlobalAveragePool", ExpandGlobalPool},
    {"GlobalMaxPool", ExpandGlobalPool},
    {"GlobalLpPool", ExpandGlobalPool},
};

}  // namespace

std::span<const ExpandRow> PoolingRules() { return kRows; }

}  // namespace poprt::ipu
