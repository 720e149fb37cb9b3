#include "passes/lowering/fuse_margins_into_conv.hpp"

#include <optional>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/movement/slice_range.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

/// What a Pad adds on both sides of every axis.
struct Margins {
  Ints begin;
  Ints end;
};

/// Nothing for a Pad by other values than zero, and where it cuts off.
std::optional<Margins> MarginsOf(const ir::Graph& graph, const Node& pad) {
  constexpr std::size_t kValue = 1;
  if (pad.attributes.get_string("mode", "constant") != "constant") return std::nullopt;
  if (HasInput(pad, kValue) && UniformValue(graph, pad.inputs[kValue]) != 0.0) return std::nullopt;
  const std::size_t rank = graph.type(pad.inputs[0]).shape.size();
  const Ints pads = pad.attributes.get_ints("pads");
  const Ints axes = pad.attributes.get_ints("axes");
  const std::size_t count = pads.size() / 2;
  Margins margins{Ints(rank, 0), Ints(rank, 0)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = NormalizeAxis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], rank);
    if (!axis || pads[i] < 0 || pads[count + i] < 0) return std::nullopt;
    margins.begin[static_cast<std::size_t>(*axis)] = pads[i];
    margins.end[static_cast<std::size_t>(*axis)] = pads[count + i];
  }
  return margins;
}

bool FusePad(Rewriter& rewriter, Node& conv) {
  const ir::Graph& graph = rewriter.graph();
  const Node* pad = rewriter.Producer(conv.inputs[0], "Pad");
  if (pad == nullptr) return false;
  const std::optional<Margins> margins = MarginsOf(graph, *pad);
  if (!margins) return false;
  for (std::size_t axis = 0; axis < kSpatial; ++axis) {
    if (margins->begin[axis] != 0 || margins->end[axis] != 0) return false;
  }
  kernels::Window window = WindowOf(graph, conv);
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    window.pads_begin[i] += margins->begin[kSpatial + i];
    window.pads_end[i] += margins->end[kSpatial + i];
  }
  conv.inputs[0] = pad->inputs[0];
  SetPads(conv, window);
  return true;
}

/// Becomes the convolution that it takes a part of, with less padding. Nothing where the part would
/// begin or end inside the image.
bool FuseSlice(Rewriter& rewriter, Node& slice) {
  const ir::Graph& graph = rewriter.graph();
  const Node* conv = rewriter.Producer(slice.inputs[0], "Conv");
  if (conv == nullptr || !rewriter.UsedOnlyBy(1, slice.inputs[0])) return false;
  const Shape& whole = graph.type(slice.inputs[0]).shape;
  const std::vector<kernels::SliceRange> ranges = kernels::ResolveSlice(slice.attributes, whole);
  kernels::Window window = WindowOf(graph, *conv);
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const kernels::SliceRange& range = ranges[axis];
    const std::int64_t behind = whole[axis] - range.start - range.count;
    if (range.count == 0 || (range.step != 1 && range.count > 1)) return false;
    if (axis < kSpatial) {
      if (range.start != 0 || behind != 0) return false;
      continue;
    }
    const std::size_t i = axis - kSpatial;
    window.pads_begin[i] -= range.start * window.strides[i];
    window.pads_end[i] -= behind * window.strides[i];
    if (window.pads_begin[i] < 0 || window.pads_end[i] < 0) return false;
  }
  slice.op = "Conv";
  slice.inputs = conv->inputs;
  slice.attributes = conv->attributes;
  SetPads(slice, window);
  return true;
}

bool Fuse(Rewriter& rewriter, Node& node) {
  if (node.op == "Conv") return FusePad(rewriter, node);
  return node.op == "Slice" && FuseSlice(rewriter, node);
}

}  // namespace

absl::Status FuseMarginsIntoConv(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, Fuse);
  } catch (const kernels::KernelError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
