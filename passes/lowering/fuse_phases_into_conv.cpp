#include "passes/lowering/fuse_phases_into_conv.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/conv_window.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/movement/slice_range.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

constexpr std::size_t kChannelAxis = 1;
constexpr std::size_t kRank = 4;
/// Strides and pads of a Conv, so that those of the image are some that can be multiplied.
constexpr std::int64_t kMost = std::int64_t{1} << 20;

/// Rows first[0], first[0] + steps[0], ... and columns first[1], ... of an image.
struct Phase {
  ValueId image;
  Ints first{0, 0};
  Ints steps{1, 1};
};

/// The value as a phase of what Slices take it from.
std::optional<Phase> PhaseOf(Rewriter& rewriter, ValueId id) {
  const Graph& graph = rewriter.graph();
  Phase phase{id};
  while (const Node* slice = rewriter.Producer(phase.image, "Slice")) {
    const Shape& whole = graph.type(slice->inputs[0]).shape;
    const auto ranges = kernels::ResolveSlice(slice->attributes, whole);
    for (std::size_t axis = 0; axis < kRank; ++axis) {
      const kernels::SliceRange& range = ranges[axis];
      if (range.step < 1 || (axis < kSpatial && range.count != whole[axis])) return std::nullopt;
      if (axis < kSpatial) continue;
      phase.first[axis - kSpatial] = range.start + range.step * phase.first[axis - kSpatial];
      phase.steps[axis - kSpatial] *= range.step;
    }
    phase.image = slice->inputs[0];
  }
  return phase;
}

/// The phases that the value joins as channels, in their order; none for what it is otherwise.
std::vector<Phase> JoinedPhases(Rewriter& rewriter, ValueId id) {
  std::vector<Phase> phases;
  if (const Node* split = rewriter.Producer(id, "SpaceToDepth")) {
    const std::int64_t block = split->attributes.get_int("blocksize", 1);
    for (std::int64_t i = 0; i < block * block; ++i) {
      phases.push_back({split->inputs[0], {i / block, i % block}, {block, block}});
    }
    return phases;
  }
  const Node* concat = rewriter.Producer(id, "Concat");
  if (concat == nullptr || concat->attributes.get_int("axis", 0) != kChannelAxis) return {};
  for (const ValueId input : concat->inputs) {
    const std::optional<Phase> phase = PhaseOf(rewriter, input);
    if (!phase) return {};
    phases.push_back(*phase);
  }
  return phases;
}

/// Whether they are phases of one image, every pixel of which is in one of them, once.
bool CoverImage(const Shape& image, const Shape& phase, const std::vector<Phase>& phases) {
  const Phase& one = phases.front();
  if (image[2] != phase[2] * one.steps[0] || image[3] != phase[3] * one.steps[1]) return false;
  if (static_cast<std::int64_t>(phases.size()) != one.steps[0] * one.steps[1]) return false;
  std::vector<Ints> firsts;
  for (const Phase& each : phases) {
    if (each.image != one.image || each.steps != one.steps) return false;
    firsts.push_back(each.first);
  }
  std::ranges::sort(firsts);
  return std::ranges::adjacent_find(firsts) == firsts.end();
}

/// Weights [O, phases * C, KH, KW] as those [O, C, steps[0] * KH, steps[1] * KW] of the image.
Tensor WeightsOfImage(const Tensor& weights, const std::vector<Phase>& phases) {
  const Shape& shape = weights.shape();
  const Ints& steps = phases.front().steps;
  const auto count = static_cast<std::int64_t>(phases.size());
  const std::int64_t channels = shape[1] / count;
  const std::int64_t height = shape[2] * steps[0];
  const std::int64_t width = shape[3] * steps[1];
  Tensor image({weights.element(), {shape[0], channels, height, width}});
  const std::size_t size = ElementSize(weights.element());
  const std::byte* from = weights.data();
  for (std::int64_t o = 0; o < shape[0]; ++o) {
    for (const Phase& phase : phases) {
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t tap = 0; tap < shape[2] * shape[3]; ++tap, from += size) {
          const std::int64_t row = tap / shape[3] * steps[0] + phase.first[0];
          const std::int64_t column = tap % shape[3] * steps[1] + phase.first[1];
          const std::int64_t to = ((o * channels + c) * height + row) * width + column;
          std::memcpy(image.mutable_data() + static_cast<std::size_t>(to) * size, from, size);
        }
      }
    }
  }
  return image;
}

bool Rule(Rewriter& rewriter, Node& conv) {
  const Graph& graph = rewriter.graph();
  if (conv.op != "Conv" || conv.attributes.get_int("group", 1) != 1) return false;
  const Tensor* weights = graph.ConstantOf(conv.inputs[1]);
  const Shape& input = graph.type(conv.inputs[0]).shape;
  if (weights == nullptr || input.size() != kRank || input[kChannelAxis] >= kBlock) return false;
  if (!rewriter.UsedOnlyBy(1, conv.inputs[0])) return false;
  const std::vector<Phase> phases = JoinedPhases(rewriter, conv.inputs[0]);
  if (phases.size() < 2) return false;
  if (!CoverImage(graph.type(phases.front().image).shape, input, phases)) return false;
  kernels::Window window = WindowOf(graph, conv);
  if (window.dilations != Ints{1, 1}) return false;
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const std::int64_t step = phases.front().steps[axis];
    if (std::max({window.strides[axis], window.pads_begin[axis], window.pads_end[axis]}) > kMost) {
      return false;
    }
    window.kernel[axis] *= step;
    window.strides[axis] *= step;
    window.pads_begin[axis] *= step;
    window.pads_end[axis] *= step;
  }
  conv.inputs[0] = phases.front().image;
  conv.inputs[1] = rewriter.AddConstant(graph.value(conv.inputs[1]).name + "_of_image",
                                        WeightsOfImage(*weights, phases));
  conv.attributes.set("kernel_shape", window.kernel);
  SetWindow(conv, window);
  return true;
}

}  // namespace

absl::Status FusePhasesIntoConv(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, Rule);
  } catch (const kernels::KernelError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
