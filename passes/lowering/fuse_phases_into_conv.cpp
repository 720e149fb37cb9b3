#include "passes/lowering/fuse_phases_into_conv.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
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
/// Kernel, strides and pads of a Conv at most, so that a Conv of the image may have larger ones.
constexpr std::int64_t kMost = std::int64_t{1} << 20;

/// Rows first[0], first[0] + steps[0], ... and columns first[1], ... of an image.
struct Phase {
  ValueId image;
  Ints first{0, 0};
  Ints steps{1, 1};
};

/// What the Slice takes of rows and columns, if these are some of many and all the rest is whole.
std::optional<std::array<kernels::SliceRange, 2>> SteppedRanges(const Graph& graph,
                                                                const Node& slice) {
  const Shape& whole = graph.type(slice.inputs[0]).shape;
  const auto ranges = kernels::ResolveSlice(slice.attributes, whole);
  for (std::size_t axis = 0; axis < kSpatial; ++axis) {
    if (ranges[axis].step != 1 || ranges[axis].count != whole[axis]) return std::nullopt;
  }
  const std::array spatial{ranges[kSpatial], ranges[kSpatial + 1]};
  const auto is_possible = [](const auto& range) { return range.step >= 1 && range.step < kBlock; };
  const auto is_stepped = [](const auto& range) { return range.step > 1; };
  if (!std::ranges::all_of(spatial, is_possible)) return std::nullopt;
  if (!std::ranges::any_of(spatial, is_stepped)) return std::nullopt;
  return spatial;
}

/// The value as a phase of what Slices take it from. Of more phases than a block has channels there
/// is no use.
Phase PhaseOf(Rewriter& rewriter, ValueId id) {
  Phase phase{id};
  while (const Node* slice = rewriter.Producer(phase.image, "Slice")) {
    const auto ranges = SteppedRanges(rewriter.graph(), *slice);
    if (!ranges || std::ranges::max(phase.steps) >= kBlock) break;
    for (std::size_t i = 0; i < ranges->size(); ++i) {
      phase.first[i] = (*ranges)[i].start + (*ranges)[i].step * phase.first[i];
      phase.steps[i] *= (*ranges)[i].step;
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
  for (const ValueId input : concat->inputs) phases.push_back(PhaseOf(rewriter, input));
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
  if (weights == nullptr || input.size() != kRank) return false;
  // Every phase has a channel, so that there are few.
  if (input[kChannelAxis] < 1 || input[kChannelAxis] >= kBlock) return false;
  if (!rewriter.UsedOnlyBy(1, conv.inputs[0])) return false;
  const std::vector<Phase> phases = JoinedPhases(rewriter, conv.inputs[0]);
  if (phases.size() < 2) return false;
  if (!CoverImage(graph.type(phases.front().image).shape, input, phases)) return false;
  kernels::Window window = WindowOf(graph, conv);
  if (window.dilations != Ints{1, 1}) return false;
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const std::int64_t step = phases.front().steps[axis];
    const std::int64_t most = std::max({window.kernel[axis], window.strides[axis],
                                        window.pads_begin[axis], window.pads_end[axis]});
    if (most > kMost) return false;
    window.kernel[axis] *= step;
    window.strides[axis] *= step;
    window.pads_begin[axis] *= step;
    window.pads_end[axis] *= step;
  }
  conv.inputs[0] = phases.front().image;
  conv.inputs[1] = rewriter.AddConstant(graph.value(conv.inputs[1]).name + "_of_image",
                                        WeightsOfImage(*weights, phases));
  conv.attributes.set("kernel_shape", window.kernel);
  conv.attributes.set("strides", window.strides);
  SetPads(conv, window);
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
