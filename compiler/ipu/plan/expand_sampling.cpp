#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/gather_steps.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

/// Operators that take elements at computed positions: images resized, sampled, cut into regions.
namespace poprt::ipu {
namespace {

/// Positions are known: `neighbours` moves of all results, and a product and a sum for each.
void AddInterpolation(Operation& operation, std::uint64_t neighbours) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const TensorType& type = operation.output_type(0);
  Layout to = LinearLayout(steps.target(), steps.tiles(), type);
  if (!x.constant) {
    to.run = x.layout.run;
    to.mapping.grain_bytes = to.run * ElementBytes(type.element);
  }
  const Placed y{type, to, false, true};
  const RepeatScope repeat(steps, neighbours);
  steps.Hold(to.mapping.bytes_per_tile);
  Broadcast(steps, "exchange neighbours", to.mapping.tiles, to.mapping.bytes_per_tile, x);
  const auto row = static_cast<std::uint64_t>(type.shape.empty() ? 1 : type.shape.back());
  const std::uint64_t atom = std::min<std::uint64_t>(std::max<std::uint64_t>(row, 1), to.run);
  steps.Copy("gather neighbours", to.mapping.tiles, to.mapping.bytes_per_tile,
             (to.stride == 1 && x.layout.stride == 1 ? 1 : atom) * ElementBytes(type.element));
  if (neighbours > 1) {
    const Placed part = AddScalar(steps, "weigh", ElementwiseOp::kMultiply, y, type);
    AddBinary(steps, "add", ElementwiseOp::kAdd, y, part, type);
  }
  operation.flops = neighbours > 1 ? 2 * neighbours * Elements(type) : 0;
  operation.SetOutput(0, y);
}

void ExpandResize(Operation& operation) {
  const std::string mode = operation.node().attributes.get_string("mode", "nearest");
  std::size_t axes = 0;
  const Shape& in = operation.input(0).type.shape;
  const Shape& out = operation.output_type(0).shape;
  for (std::size_t i = 0; i < std::min(in.size(), out.size()); ++i) axes += in[i] != out[i] ? 1 : 0;
  const std::uint64_t of_axis = mode == "cubic" ? 4 : 2;
  std::uint64_t neighbours = 1;
  for (std::size_t i = 0; mode != "nearest" && i < axes; ++i) neighbours *= of_axis;
  AddInterpolation(operation, neighbours);
}

/// Positions are data: every neighbour is a lookup of one position with all channels.
void ExpandLookups(Operation& operation, std::uint64_t neighbours) {
  StepBuilder& steps = operation.steps();
  const TensorType& x = operation.input(0).type;
  const TensorType& type = operation.output_type(0);
  const auto channels =
      static_cast<std::uint64_t>(x.shape.size() > 1 ? std::max<std::int64_t>(x.shape[1], 1) : 1);
  RowLookup lookup;
  lookup.columns = channels;
  lookup.rows = std::max<std::uint64_t>(Elements(x) / channels, 1);
  lookup.lookups = std::max<std::uint64_t>(Elements(type) / channels, 1);
  lookup.element = x;
  const RepeatScope repeat(steps, neighbours);
  const Placed found = AddLookup(steps, LookupKind::kSlice, lookup, type);
  operation.SetOutput(0, AddScalar(steps, "weigh", ElementwiseOp::kMultiply, found, type));
}

/// Bilinear samples of four neighbours.
void ExpandGridSample(Operation& operation) {
  const std::string mode = operation.node().attributes.get_string("mode", "linear");
  ExpandLookups(operation, mode == "nearest" ? 1 : mode == "cubic" ? 16 : 4);
}

/// Four neighbours for every sample of a bin; a sampling ratio of 0 means about two a side.
void ExpandRoiAlign(Operation& operation) {
  const std::int64_t ratio = operation.node().attributes.get_int("sampling_ratio", 0);
  const auto side = static_cast<std::uint64_t>(ratio > 0 ? ratio : 2);
  ExpandLookups(operation, 4 * side * side);
}

void ExpandRoiPool(Operation& operation) { ExpandLookups(operation, 4); }

/// Sampled like an image for every kernel position, then the convolution.
void ExpandDeformConv(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const TensorType& weights = operation.input(1).type;
  std::uint64_t kernel = 1;
  for (std::size_t i = 2; i < weights.shape.size(); ++i)
    kernel *= static_cast<std::uint64_t>(weights.shape[i]);
  ExpandLookups(operation, 4 * kernel);
  ir::Node node = operation.node();
  node.op = "Conv";
  Operation conv(node, {operation.input(0), operation.input(1)}, {operation.output_type(0)}, steps);
  FindExpandRule("Conv")(conv);
  if (const auto& placement = conv.placement(1)) operation.PlaceConstant(1, *placement);
  operation.grid = conv.grid;
  operation.flops = conv.flops;
  operation.SetOutput(0, conv.output(0));
}

constexpr ExpandRow kRows[] = {
    {"Resize", ExpandResize},     {"Upsample", ExpandResize},    {"GridSample", ExpandGridSample},
    {"RoiAlign", ExpandRoiAlign}, {"MaxRoiPool", ExpandRoiPool}, {"DeformConv", ExpandDeformConv},
};

}  // namespace

std::span<const ExpandRow> SamplingRules() { return kRows; }

}  // namespace poprt::ipu
