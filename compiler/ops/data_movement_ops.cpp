#include <algorithm>
#include <numeric>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/movement/slice_range.hpp"

namespace poprt::ops {
namespace {

Types InferConcat(const InferenceCall& call) {
  RequireSameElements(call);
  TensorType result = call.input(0);
  const std::size_t axis =
      NormalizedAxis(RequiredInt(call.attributes, "axis"), result.shape.size(), "axis");
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    RequireRank(call, i, result.shape.size());
    Shape expected = result.shape;
    expected[axis] = call.inputs[i].shape[axis];
    Require(call.inputs[i].shape == expected, "input ", i, " is ", call.inputs[i],
            ", but for axis ", axis, " its shape must be that of input 0, ", call.input(0).shape);
    result.shape[axis] = CheckedAdd(result.shape[axis], call.inputs[i].shape[axis]);
  }
  return {result};
}

/// Extents of the parts when none are given: equal, the last one smaller if need be.
Ints EqualParts(std::int64_t extent, std::size_t parts) {
  const auto count = static_cast<std::int64_t>(parts);
  const std::int64_t part = extent / count + (extent % count != 0 ? 1 : 0);
  const std::int64_t last = extent - part * (count - 1);
  Require(last >= 0, "cannot split an extent of ", extent, " into ", parts, " parts");
  Ints split(parts, part);
  split.back() = last;
  return split;
}

Types InferSplit(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  const std::size_t axis = AxisAttribute(call.attributes, "axis", 0, data.shape.size());
  const auto outputs = static_cast<std::int64_t>(call.outputs);
  const std::int64_t parts = call.attributes.get_int("num_outputs", outputs);
  Require(parts == outputs, "attribute 'num_outputs' is ", parts, ", there are ", outputs,
          " outputs");
  const Ints given = call.attributes.get_ints("split");
  const Ints split = given.empty() ? EqualParts(data.shape[axis], call.outputs) : given;
  Require(split.size() == call.outputs, "attribute 'split' has ", split.size(),
          " numbers, there are ", outputs, " outputs");
  std::int64_t sum = 0;
  Types types;
  for (const std::int64_t extent : split) {
    Require(extent >= 0, "attribute 'split' is ", split, ", it must not be negative");
    sum = CheckedAdd(sum, extent);
    types.push_back(data);
    types.back().shape[axis] = extent;
  }
  Require(sum == data.shape[axis], "attribute 'split' is ", split, ", its sum must be ",
          data.shape[axis], ", the extent of axis ", axis);
  return types;
}

Types InferSlice(const InferenceCall& call) {
  RequireAttribute(call.attributes, "starts");
  RequireAttribute(call.attributes, "ends");
  const TensorType& data = call.input(0);
  return {{data.element,
           kernels::SliceOutputShape(kernels::ResolveSlice(call.attributes, data.shape))}};
}

/// The extent of one padded axis. Negative pads crop before the mode fills.
std::int64_t PaddedExtent(std::int64_t extent, std::int64_t begin, std::int64_t end,
                          std::size_t axis, const std::string& mode) {
  const std::int64_t kept = CheckedAdd(CheckedAdd(extent, std::min<std::int64_t>(begin, 0)),
                                       std::min<std::int64_t>(end, 0));
  const std::int64_t padded = CheckedAdd(CheckedAdd(kept, std::max<std::int64_t>(begin, 0)),
                                         std::max<std::int64_t>(end, 0));
  Require(padded >= 0, "attribute 'pads' holds ", begin, " and ", end, " for axis ", axis,
          " of extent ", extent);
  Require(mode == "constant" || kept > 0 || padded == 0, "attribute 'pads' leaves nothing of axis ",
          axis, " that mode ", mode, " could repeat");
  return padded;
}

Types InferPad(const InferenceCall& call) {
  const std::string mode =
      Choice(call.attributes, "mode", "constant", {"constant", "reflect", "edge", "wrap"});
  TensorType result = call.input(0);
  RequireSameElements(call);
  if (call.input(1).defined()) {
    Require(CheckedElementCount(call.input(1).shape) == 1, "input 1 is ", call.input(1),
            ", it must have one element");
  }
  const std::size_t rank = result.shape.size();
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.attributes.get_ints("axes", axes);
  NamedAxes(axes, rank, "axes");
  const Ints pads = RequiredInts(call.attributes, "pads");
  Require(pads.size() == 2 * axes.size(), "attribute 'pads' has ", pads.size(),
          " numbers, it must have ", 2 * axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = NormalizedAxis(axes[i], rank, "axes");
    std::int64_t& extent = result.shape[axis];
    extent = PaddedExtent(extent, pads[i], pads[axes.size() + i], axis, mode);
  }
  return {result};
}

std::int64_t BlockSize(const InferenceCall& call) {
  RequireRank(call, 0, 4);
  const std::int64_t block = RequiredInt(call.attributes, "blocksize");
  Require(block > 0, "attribute 'blocksize' is ", block, ", it must be positive");
  return block;
}

Types InferDepthToSpace(const InferenceCall& call) {
  Choice(call.attributes, "mode", "DCR", {"DCR", "CRD"});
  const std::int64_t block = BlockSize(call);
  const Shape& in = call.input(0).shape;
  const std::int64_t area = CheckedMultiply(block, block);
  Require(in[1] % area == 0, "input 0 is ", call.input(0), ", its channels must be a multiple of ",
          area);
  return {{call.input(0).element,
           {in[0], in[1] / area, CheckedMultiply(in[2], block), CheckedMultiply(in[3], block)}}};
}

Types InferSpaceToDepth(const InferenceCall& call) {
  const std::int64_t block = BlockSize(call);
  const Shape& in = call.input(0).shape;
  Require(in[2] % block == 0 && in[3] % block == 0, "input 0 is ", call.input(0),
          ", its height and width must be multiples of ", block);
  const std::int64_t area = CheckedMultiply(block, block);
  return {
      {call.input(0).element, {in[0], CheckedMultiply(in[1], area), in[2] / block, in[3] / block}}};
}

Types InferReverseSequence(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 2);
  const Shape& shape = call.input(0).shape;
  const std::int64_t batch_axis = call.attributes.get_int("batch_axis", 1);
  const std::int64_t time_axis = call.attributes.get_int("time_axis", 0);
  Require((batch_axis == 0 && time_axis == 1) || (batch_axis == 1 && time_axis == 0),
          "attributes 'batch_axis' and 'time_axis' are ", batch_axis, " and ", time_axis,
          ", one must be 0 and the other 1");
  RequireIndices(call, 1);
  RequireShape(call, 1, {shape[static_cast<std::size_t>(batch_axis)]});
  return SameAsInput(call);
}

}  // namespace

std::span<const OpDef> DataMovementOps() {
  static const OpDef rows[] = {
      {.name = "Concat", .inputs = {1, kAnyNumber}, .infer = InferConcat},
      {.name = "Split",
       .outputs = {1, kAnyNumber},
       .static_inputs = {{.index = 1, .attribute = "split", .input_since = 13}},
       .infer = InferSplit},
      {.name = "Slice",
       .static_inputs = {{.index = 1, .attribute = "starts", .input_since = 10},
                         {.index = 2, .attribute = "ends", .input_since = 10, .is_extent = true},
                         {.index = 3, .attribute = "axes", .input_since = 10},
                         {.index = 4, .attribute = "steps", .input_since = 10}},
       .infer = InferSlice},
      {.name = "Pad",
       .inputs = {1, 2},
       .static_inputs = {{.index = 1, .attribute = "pads", .input_since = 11},
                         {.index = 3, .attribute = "axes", .input_since = 18}},
       .infer = InferPad},
      {.name = "DepthToSpace", .infer = InferDepthToSpace},
      {.name = "SpaceToDepth", .infer = InferSpaceToDepth},
      {.name = "ReverseSequence", .since = 10, .inputs = {2, 2}, .infer = InferReverseSequence},
  };
  return rows;
}

}  // namespace poprt::ops
