#include "passes/lowering/lower_conv_transpose.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/phase_convolutions.hpp"
#include "passes/lowering/subpixel_convolution.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// One spatial axis. Position x of the result, counted with what the padding cuts off, is
/// stride * q + phase; it sums weight[phase + stride * t] * input[q - t] over the taps t.
struct Axis {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t taps = 1;
  std::int64_t crop = 0;  ///< positions before the first one that is wanted, of those with q >= 0
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t extent = 1;  ///< values of q that are computed
};

Axis MakeAxis(const kernels::TransposedWindow& geometry, const Shape& input, std::size_t i) {
  const kernels::Window& window = geometry.window;
  Axis axis{.kernel = window.kernel[i], .stride = window.strides[i]};
  axis.taps = (axis.kernel + axis.stride - 1) / axis.stride;
  const std::int64_t last_wanted = window.pads_begin[i] + geometry.output[i] - 1;
  // Further in, the convolution would have to skip some of its input.
  const std::int64_t first = std::min(window.pads_begin[i] / axis.stride, axis.taps - 1);
  const std::int64_t last = std::max(last_wanted / axis.stride, input[i] - 1);
  axis.crop = window.pads_begin[i] - first * axis.stride;
  axis.pad_begin = axis.taps - 1 - first;
  axis.pad_end = last - (input[i] - 1);
  axis.extent = last - first + 1;
  return axis;
}

/// [C, O / group, kh, kw] -> [O * sh * sw, C / group, taps, taps], phases inside channels or the
/// other way round.
Tensor PhaseWeights(const Tensor& weights, std::int64_t group, bool phases_first, const Axis& rows,
                    const Axis& columns) {
  const std::int64_t in = weights.shape()[0] / group;
  const std::int64_t out = weights.shape()[1];
  Tensor phases({weights.element(),
                 {out * group * rows.stride * columns.stride, in, rows.taps, columns.taps}});
  const auto size = static_cast<std::int64_t>(ElementSize(weights.element()));
  std::byte* to = phases.mutable_data();
  const std::int64_t count = rows.stride * columns.stride;
  for (std::int64_t i = 0; i < phases.shape()[0]; ++i) {
    const std::int64_t o = phases_first ? i % (out * group) : i / count;
    const std::int64_t phase = phases_first ? i / (out * group) : i % count;
    for (std::int64_t c = 0; c < in; ++c) {
      const std::int64_t plane = (o / out * in + c) * out + o % out;
      for (std::int64_t tap = 0; tap < rows.taps * columns.taps; ++tap, to += size) {
        // A convolution runs through its window the other way.
        const std::int64_t y =
            phase / columns.stride + rows.stride * (rows.taps - 1 - tap / columns.taps);
        const std::int64_t x =
            phase % columns.stride + columns.stride * (columns.taps - 1 - tap % columns.taps);
        if (y >= rows.kernel || x >= columns.kernel) continue;
        const std::int64_t from = (plane * rows.kernel + y) * columns.kernel + x;
        std::memcpy(to, weights.data() + from * size, static_cast<std::size_t>(size));
      }
    }
  }
  return phases;
}

struct Operands {
  Tensor weights;
  std::optional<Tensor> bias;
};

std::optional<Operands> ConstantOperands(const ir::Graph& graph, const Node& node) {
  constexpr std::size_t kTwoSpatialAxes = 4;
  const TensorType& x = graph.type(node.inputs[0]);
  const Tensor* weights = graph.ConstantOf(node.inputs[1]);
  if (weights == nullptr || x.shape.size() != kTwoSpatialAxes || !IsBackendType(x.element)) {
    return std::nullopt;
  }
  if (x.bytes() == 0 || weights->count() == 0) return std::nullopt;
  Operands operands{.weights = *weights, .bias = std::nullopt};
  if (!HasInput(node, kBiasInput)) return operands;
  const Tensor* bias = graph.ConstantOf(node.inputs[kBiasInput]);
  if (bias == nullptr) return std::nullopt;
  operands.bias = *bias;
  return operands;
}

/// Convolutions of every phase, if they save an eighth of the multiplications of one of all phases:
/// those by zeros, and those at borders that only some phases have. One of 3x3 taps is left whole,
/// since Winograd's algorithm saves most there, as are phases that do not fill blocks of channels.
std::optional<PhaseConvolutions> PhasesApart(const kernels::TransposedWindow& geometry,
                                             const Shape& input, std::int64_t channels,
                                             const Axis& rows, const Axis& columns) {
  if (channels % kBlock != 0 || (rows.taps == 3 && columns.taps == 3)) return std::nullopt;
  auto apart = PhaseConvolutions::Of(geometry, input);
  const std::int64_t together =
      rows.taps * rows.stride * rows.extent * columns.taps * columns.stride * columns.extent;
  if (apart && 8 * apart->Multiplications() > 7 * together) return std::nullopt;
  return apart;
}

bool Lower(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  if (node.op != "ConvTranspose") return false;
  const TensorType y = graph.type(node.outputs[0]);
  const auto operands = ConstantOperands(graph, node);
  if (!operands || ElementCount(y.shape) == 0) return false;
  const Shape& x = graph.type(node.inputs[0]).shape;
  const Shape spatial{x[2], x[3]};
  const Shape& kernel = operands->weights.shape();
  const auto geometry =
      kernels::ResolveTransposedWindow(node.attributes, spatial, {kernel[2], kernel[3]});
  const Axis rows = MakeAxis(geometry, spatial, 0);
  const Axis columns = MakeAxis(geometry, spatial, 1);
  constexpr std::int64_t kMostZeros = 4;
  const bool pays = rows.taps * rows.stride * columns.taps * columns.stride <=
                    kMostZeros * rows.kernel * columns.kernel;
  if (geometry.window.dilations != Ints{1, 1} || !pays) return false;

  const std::int64_t phases = rows.stride * columns.stride;
  const std::int64_t group = node.attributes.get_int("group", 1);
  // The channels of a group must stay together; phases apart can be put in place block by block.
  const bool phases_first = group == 1;
  if (phases_first) {
    if (const auto apart = PhasesApart(geometry, spatial, y.shape[1], rows, columns)) {
      const ValueId result = apart->Insert(rewriter, node, operands->weights);
      MakeSubpixelShuffle(node, result, {rows.stride, columns.stride}, {0, 0}, phases_first);
      return true;
    }
  }
  std::vector<ValueId> inputs = {
      node.inputs[0],
      rewriter.AddConstant(node.name + "_phases",
                           PhaseWeights(operands->weights, group, phases_first, rows, columns))};
  if (operands->bias) {
    inputs.push_back(rewriter.AddConstant(node.name + "_bias",
                                          RepeatedBias(*operands->bias, phases, phases_first)));
  }
  const TensorType image{y.element, {y.shape[0], y.shape[1] * phases, rows.extent, columns.extent}};
  const ValueId result = rewriter.Insert(graph.MakeNode(
      "Conv", std::move(inputs), image,
      {{"dilations", Ints{1, 1}},
       {"group", group},
       {"kernel_shape", Ints{rows.taps, columns.taps}},
       {"pads", Ints{rows.pad_begin, columns.pad_begin, rows.pad_end, columns.pad_end}},
       {"strides", Ints{1, 1}}},
      node.name));
  MakeSubpixelShuffle(node, result, {rows.stride, columns.stride}, {rows.crop, columns.crop},
                      phases_first);
  return true;
}

}  // namespace

absl::Status LowerConvTranspose(ir::Graph& graph, const PassContext&) {
  return LowerToSubpixelConvolutions(graph, Lower);
}

}  // namespace poprt::passes
