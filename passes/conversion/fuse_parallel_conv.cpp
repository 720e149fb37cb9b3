#include "passes/conversion/fuse_parallel_conv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/conversion/channel_affine.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;
using kernels::Window;

constexpr std::size_t kImageAxes = 2;  // batch and channels, before the spatial ones

/// A summand as a convolution of x.
struct Branch {
  Window window;
  Tensor weights;            ///< [O, I / group, kernel...]
  std::vector<double> bias;  ///< O of them
};

Shape SpatialOf(const Shape& shape) { return {shape.begin() + kImageAxes, shape.end()}; }

/// Without gaps between the taps.
bool IsDense(const Window& window) {
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    if (window.Reach(axis) != window.kernel[axis]) return false;
  }
  return true;
}

std::optional<Branch> BranchOf(const Graph& graph, const Node& conv) {
  const Tensor* weights = graph.ConstantOf(conv.inputs[1]);
  if (weights == nullptr || weights->count() == 0) return {};
  const Shape kernel = SpatialOf(weights->shape());
  Branch branch{.window = kernels::ResolveWindow(
                    conv.attributes, SpatialOf(graph.type(conv.inputs[0]).shape), kernel),
                .weights = *weights,
                .bias = std::vector<double>(static_cast<std::size_t>(weights->shape()[0]))};
  if (conv.inputs.size() > 2 && conv.inputs[2] != ir::kAbsent) {
    const Tensor* bias = graph.ConstantOf(conv.inputs[2]);
    if (bias == nullptr) return {};
    branch.bias = ToDoubles(*bias);
  }
  return IsDense(branch.window) ? std::optional(std::move(branch)) : std::nullopt;
}

/// The convolution `value` beside a sum with another one, that nothing else uses.
const Node* ConvOf(Rewriter& rewriter, ValueId value) {
  const Node* conv = rewriter.Producer(value, "Conv");
  return conv != nullptr && rewriter.UsedOnlyBy(1, value) ? conv : nullptr;
}

/// x, or a factor and a term for each channel of x, beside a convolution of x.
std::optional<Branch> PointwiseBranchOf(Rewriter& rewriter, ValueId value, const Node& conv,
                                        const Branch& beside) {
  const Graph& graph = rewriter.graph();
  const auto channels = static_cast<std::size_t>(beside.weights.shape()[0]);
  ChannelAffine affine{.x = value,
                       .factors = {.scale = std::vector<double>(channels, 1.0),
                                   .shift = std::vector<double>(channels)}};
  if (value != conv.inputs[0]) {
    const Node* node = rewriter.UsedOnlyBy(1, value) ? rewriter.Producer(value) : nullptr;
    const auto found = node == nullptr ? std::nullopt : ChannelAffineOf(graph, *node);
    if (!found) return {};
    affine = *found;
  }
  const Shape& shape = graph.type(conv.inputs[0]).shape;
  if (affine.x != conv.inputs[0] || graph.type(value).shape[1] != shape[1]) return {};
  if (affine.factors.scale.size() != channels) return {};

  Branch branch{.window = beside.window, .weights = {}, .bias = affine.factors.shift};
  const std::size_t axes = beside.window.kernel.size();
  const Ints ones(axes, 1);
  if (beside.window.strides != ones) return {};
  branch.window.kernel = ones;
  branch.window.pads_begin.assign(axes, 0);
  branch.window.pads_end.assign(axes, 0);
  Shape weights{beside.weights.shape()[0], beside.weights.shape()[1]};
  weights.insert(weights.end(), axes, 1);
  const auto inputs_of_group = static_cast<std::size_t>(weights[1]);
  std::vector<double> values(channels * inputs_of_group);
  for (std::size_t c = 0; c < channels; ++c) {
    values[c * inputs_of_group + c % inputs_of_group] = affine.factors.scale[c];
  }
  branch.weights = FromDoubles({beside.weights.element(), weights}, values);
  return branch;
}

/// The window that covers both.
Window Covering(const Window& a, const Window& b) {
  Window both = a;
  for (std::size_t axis = 0; axis < a.kernel.size(); ++axis) {
    const std::int64_t begin = std::max(a.pads_begin[axis], b.pads_begin[axis]);
    const std::int64_t end =
        std::max(a.kernel[axis] - a.pads_begin[axis], b.kernel[axis] - b.pads_begin[axis]);
    both.pads_end[axis] += end - (a.kernel[axis] - a.pads_begin[axis]);
    both.pads_begin[axis] = begin;
    both.kernel[axis] = begin + end;
    both.dilations[axis] = 1;
  }
  return both;
}

std::int64_t TapsOf(const Window& window) { return ElementCount(window.kernel); }

/// Adds the branch's weights to those of a window that covers its own.
void AddWeights(const Branch& branch, const Window& window, std::vector<double>& sums) {
  const std::vector<double> values = ToDoubles(branch.weights);
  const auto taps = static_cast<std::size_t>(TapsOf(branch.window));
  const auto all_taps = static_cast<std::size_t>(TapsOf(window));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t tap = i % taps;
    std::size_t place = 0;
    std::size_t stride = 1;
    for (std::size_t axis = window.kernel.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(branch.window.kernel[axis]);
      const auto moved =
          static_cast<std::size_t>(window.pads_begin[axis] - branch.window.pads_begin[axis]);
      place += (tap % extent + moved) * stride;
      tap /= extent;
      stride *= static_cast<std::size_t>(window.kernel[axis]);
    }
    sums[i / taps * all_taps + place] += values[i];
  }
}

/// The second summand as a branch beside the convolution that is the first one.
std::optional<Branch> SecondBranch(Rewriter& rewriter, ValueId value, const Node& conv,
                                   const Branch& first) {
  const Node* other = ConvOf(rewriter, value);
  if (other == nullptr || other->inputs[0] != conv.inputs[0]) {
    return PointwiseBranchOf(rewriter, value, conv, first);
  }
  const bool same_group =
      other->attributes.get_int("group", 1) == conv.attributes.get_int("group", 1);
  auto second = same_group ? BranchOf(rewriter.graph(), *other) : std::nullopt;
  if (!second || second->window.strides != first.window.strides) return {};
  return second;
}

bool Fuse(Rewriter& rewriter, Node& node, ValueId summand, ValueId value) {
  const Graph& graph = rewriter.graph();
  const Node* conv = ConvOf(rewriter, summand);
  if (conv == nullptr || graph.type(summand) != graph.type(value)) return false;
  // Sums of quantised weights are none.
  if (rewriter.Producer(conv->inputs[0], "DequantizeLinear") != nullptr) return false;
  const auto first = BranchOf(graph, *conv);
  const auto second =
      first ? SecondBranch(rewriter, value, *conv, *first) : std::optional<Branch>();
  if (!second) return false;
  const Window window = Covering(first->window, second->window);
  if (TapsOf(window) > TapsOf(first->window) + TapsOf(second->window)) return false;

  const Shape& shape = first->weights.shape();
  Shape covering{shape[0], shape[1]};
  covering.insert(covering.end(), window.kernel.begin(), window.kernel.end());
  std::vector<double> weights(static_cast<std::size_t>(ElementCount(covering)));
  std::vector<double> bias = first->bias;
  AddWeights(*first, window, weights);
  AddWeights(*second, window, weights);
  for (std::size_t c = 0; c < bias.size(); ++c) bias[c] += second->bias[c];

  const ElementType element = first->weights.element();
  const std::string& name = conv->name;
  Ints pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  node.op = "Conv";
  node.inputs = {conv->inputs[0],
                 rewriter.AddConstant(name + "_weights", FromDoubles({element, covering}, weights)),
                 rewriter.AddConstant(name + "_bias", FromDoubles({element, {shape[0]}}, bias))};
  node.attributes = {{"group", conv->attributes.get_int("group", 1)},
                     {"kernel_shape", window.kernel},
                     {"pads", pads},
                     {"strides", window.strides}};
  return true;
}

}  // namespace

absl::Status FuseParallelConv(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, Node& node) {
    if (node.op != "Add") return false;
    const ValueId a = node.inputs[0];
    const ValueId b = node.inputs[1];
    return Fuse(rewriter, node, a, b) || Fuse(rewriter, node, b, a);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
