#include "passes/lowering/lower_thin_conv.hpp"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/subpixel_convolution.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// Pixels whose channels are computed as those of one.
struct Neighbours {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t count() const { return rows * columns; }
};

std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return (a - 1) / b + 1; }

/// Multiplications for every input channel; `weights` and `y` are shapes of the Conv.
std::int64_t Multiplications(const Shape& weights, const Shape& y, const Neighbours& neighbours) {
  const std::int64_t channels = CeilDiv(weights[0] * neighbours.count(), kBlock) * kBlock;
  return channels * (weights[2] + neighbours.rows - 1) * (weights[3] + neighbours.columns - 1) *
         CeilDiv(y[2], neighbours.rows) * CeilDiv(y[3], neighbours.columns);
}

/// What takes the fewest multiplications within one block of channels.
Neighbours BestNeighbours(const Shape& weights, const Shape& y) {
  Neighbours best;
  for (std::int64_t rows = 1; weights[0] * rows <= kBlock; ++rows) {
    for (std::int64_t columns = 1; weights[0] * rows * columns <= kBlock; ++columns) {
      const Neighbours found{rows, columns};
      if (Multiplications(weights, y, found) < Multiplications(weights, y, best)) best = found;
    }
  }
  return best;
}

/// [O, C, kh, kw] -> [rows * columns * O, C, kh + rows - 1, kw + columns - 1]: the filter of pixel
/// (p, q) stands p rows further down and q columns further right, among zeros.
Tensor NeighbourWeights(const Tensor& weights, const Neighbours& neighbours) {
  const Shape& shape = weights.shape();
  const std::int64_t height = shape[2] + neighbours.rows - 1;
  const std::int64_t width = shape[3] + neighbours.columns - 1;
  Tensor wide({weights.element(), {neighbours.count() * shape[0], shape[1], height, width}});
  const auto size = static_cast<std::int64_t>(ElementSize(weights.element()));
  const std::int64_t filters = shape[0] * shape[1];
  for (std::int64_t pixel = 0; pixel < neighbours.count(); ++pixel) {
    const std::int64_t row = pixel / neighbours.columns;
    const std::int64_t column = pixel % neighbours.columns;
    for (std::int64_t i = 0; i < filters * shape[2]; ++i) {
      const std::int64_t filter = pixel * filters + i / shape[2];
      const std::int64_t to = (filter * height + row + i % shape[2]) * width + column;
      std::memcpy(wide.mutable_data() + to * size, weights.data() + i * shape[3] * size,
                  static_cast<std::size_t>(shape[3] * size));
    }
  }
  return wide;
}

/// The window of a Conv of images with constant operands, all of whose taps and pixels follow each
/// other.
std::optional<kernels::Window> DenseWindow(const ir::Graph& graph, const Node& node) {
  constexpr std::size_t kImageRank = 4;
  if (node.op != "Conv" || node.attributes.get_int("group", 1) != 1) return std::nullopt;
  const TensorType& x = graph.type(node.inputs[0]);
  const Tensor* weights = graph.ConstantOf(node.inputs[1]);
  const bool constant_bias =
      !HasInput(node, kBiasInput) || graph.ConstantOf(node.inputs[kBiasInput]) != nullptr;
  if (weights == nullptr || !constant_bias || x.shape.size() != kImageRank) return std::nullopt;
  if (!IsBackendType(x.element) || weights->count() == 0) return std::nullopt;
  if (x.bytes() == 0 || graph.type(node.outputs[0]).bytes() == 0) return std::nullopt;
  kernels::Window window = WindowOf(graph, node);
  if (window.strides != Ints{1, 1} || window.dilations != Ints{1, 1}) return std::nullopt;
  return window;
}

/// The attributes of the Conv whose results are `extents` groups of neighbours.
Attributes AttributesOf(const kernels::Window& window, const Shape& x, const Shape& extents,
                        const Neighbours& neighbours) {
  const Ints strides{neighbours.rows, neighbours.columns};
  Ints kernel;
  Ints pads = {window.pads_begin[0], window.pads_begin[1]};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    kernel.push_back(window.kernel[i] + strides[i] - 1);
    pads.push_back((extents[i] - 1) * strides[i] + kernel[i] - x[i + 2] - window.pads_begin[i]);
  }
  return {{"dilations", Ints{1, 1}},
          {"group", std::int64_t{1}},
          {"kernel_shape", kernel},
          {"pads", pads},
          {"strides", strides}};
}

bool Lower(Rewriter& rewriter, Node& node) {
  constexpr std::int64_t kLeastGain = 2;
  ir::Graph& graph = rewriter.graph();
  const auto window = DenseWindow(graph, node);
  if (!window) return false;
  const Tensor weights = *graph.ConstantOf(node.inputs[1]);
  const TensorType y = graph.type(node.outputs[0]);
  const Neighbours neighbours = BestNeighbours(weights.shape(), y.shape);
  if (kLeastGain * Multiplications(weights.shape(), y.shape, neighbours) >
      Multiplications(weights.shape(), y.shape, {})) {
    return false;
  }
  const Shape extents{CeilDiv(y.shape[2], neighbours.rows),
                      CeilDiv(y.shape[3], neighbours.columns)};
  std::vector<ValueId> inputs = {
      node.inputs[0],
      rewriter.AddConstant(node.name + "_neighbours", NeighbourWeights(weights, neighbours))};
  if (HasInput(node, kBiasInput)) {
    const Tensor bias = *graph.ConstantOf(node.inputs[kBiasInput]);
    inputs.push_back(rewriter.AddConstant(node.name + "_bias",
                                          RepeatedBias(bias, neighbours.count(), /*all=*/true)));
  }
  const Shape x = graph.type(node.inputs[0]).shape;
  const TensorType image{y.element,
                         {y.shape[0], y.shape[1] * neighbours.count(), extents[0], extents[1]}};
  const ValueId result = rewriter.Insert(graph.MakeNode(
      "Conv", std::move(inputs), image, AttributesOf(*window, x, extents, neighbours), node.name));
  MakeSubpixelShuffle(node, result, {neighbours.rows, neighbours.columns}, {0, 0},
                      /*phases_first=*/true);
  return true;
}

}  // namespace

absl::Status LowerThinConv(ir::Graph& graph, const PassContext&) {
  return LowerToSubpixelConvolutions(graph, Lower);
}

}  // namespace poprt::passes
