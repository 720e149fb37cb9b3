#include "passes/lowering/lower_thin_conv.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/convolution_cost.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/subpixel_convolution.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/ceil_div.hpp"
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

/// A Conv of one group without dilation, whose shapes are those of ONNX.
struct ConvShape {
  Shape x;
  Shape weights;
  Shape y;
  Ints strides;

  /// The extents of the filter that covers the windows of all neighbours.
  Ints Kernel(const Neighbours& neighbours) const {
    return {weights[2] + (neighbours.rows - 1) * strides[0],
            weights[3] + (neighbours.columns - 1) * strides[1]};
  }

  /// Groups of neighbours along each axis.
  Shape Extents(const Neighbours& neighbours) const {
    return {kernels::CeilDiv(y[2], neighbours.rows), kernels::CeilDiv(y[3], neighbours.columns)};
  }
};

/// Multiplications for every input channel.
std::int64_t Multiplications(const ConvShape& conv, const Neighbours& neighbours) {
  const std::int64_t channels =
      kernels::CeilDiv(conv.weights[0] * neighbours.count(), kBlock) * kBlock;
  return channels * ElementCount(conv.Kernel(neighbours)) * ElementCount(conv.Extents(neighbours));
}

/// What takes the fewest multiplications within one block of channels.
Neighbours BestNeighbours(const ConvShape& conv) {
  const std::int64_t filters = conv.weights[0];
  Neighbours best;
  for (std::int64_t rows = 1; filters * rows <= kBlock; ++rows) {
    for (std::int64_t columns = 1; filters * rows * columns <= kBlock; ++columns) {
      const Neighbours found{rows, columns};
      if (Multiplications(conv, found) < Multiplications(conv, best)) best = found;
    }
  }
  return best;
}

ConvolutionSize SizeOf(const ConvShape& conv, const Neighbours& neighbours) {
  const Ints kernel = conv.Kernel(neighbours);
  const Shape extents = conv.Extents(neighbours);
  return {.batch = conv.x[0],
          .in_channels = conv.x[1],
          .out_channels = conv.weights[0] * neighbours.count(),
          .in_height = conv.x[2],
          .in_width = conv.x[3],
          .out_height = extents[0],
          .out_width = extents[1],
          .stride_height = conv.strides[0] * neighbours.rows,
          .stride_width = conv.strides[1] * neighbours.columns,
          .kernel_height = kernel[0],
          .kernel_width = kernel[1]};
}

/// Whether neighbours halve the multiplications, or cost less than all other algorithms, the
/// shuffle included.
bool Pays(const ConvShape& conv, const Neighbours& neighbours) {
  constexpr double kShuffle = 4;  // cycles for a number, with the copies from and to blocks
  if (neighbours.count() == 1) return false;
  if (2 * Multiplications(conv, neighbours) <= Multiplications(conv, {})) return true;
  const double shuffle = kShuffle * static_cast<double>(ElementCount(conv.y));
  return ConvolutionCost(0, SizeOf(conv, neighbours)) + shuffle <
         LeastConvolutionCost(SizeOf(conv, {}));
}

/// [O, C, kh, kw] -> [rows * columns * O, C, height, width]: the filter of pixel (p, q) stands p
/// strides further down and q strides further right, among zeros.
Tensor NeighbourWeights(const Tensor& weights, const ConvShape& conv,
                        const Neighbours& neighbours) {
  const Shape& shape = weights.shape();
  const std::int64_t height = conv.Kernel(neighbours)[0];
  const std::int64_t width = conv.Kernel(neighbours)[1];
  Tensor wide({weights.element(), {neighbours.count() * shape[0], shape[1], height, width}});
  const auto size = static_cast<std::int64_t>(ElementSize(weights.element()));
  const std::int64_t filters = shape[0] * shape[1];
  for (std::int64_t pixel = 0; pixel < neighbours.count(); ++pixel) {
    const std::int64_t row = pixel / neighbours.columns * conv.strides[0];
    const std::int64_t column = pixel % neighbours.columns * conv.strides[1];
    for (std::int64_t i = 0; i < filters * shape[2]; ++i) {
      const std::int64_t filter = pixel * filters + i / shape[2];
      const std::int64_t to = (filter * height + row + i % shape[2]) * width + column;
      std::memcpy(wide.mutable_data() + to * size, weights.data() + i * shape[3] * size,
                  static_cast<std::size_t>(shape[3] * size));
    }
  }
  return wide;
}

/// The window of a Conv of images with constant operands, all of whose taps follow each other.
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
  if (window.dilations != Ints{1, 1}) return std::nullopt;
  return window;
}

/// The attributes of the Conv whose results are groups of neighbours.
Attributes AttributesOf(const ConvShape& conv, const kernels::Window& window,
                        const Neighbours& neighbours) {
  const Ints strides{conv.strides[0] * neighbours.rows, conv.strides[1] * neighbours.columns};
  const Ints kernel = conv.Kernel(neighbours);
  const Shape extents = conv.Extents(neighbours);
  Ints pads = {window.pads_begin[0], window.pads_begin[1]};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    // Strides may leave the last pixels of the image out.
    const std::int64_t covered = (extents[i] - 1) * strides[i] + kernel[i];
    pads.push_back(std::max<std::int64_t>(0, covered - conv.x[i + 2] - window.pads_begin[i]));
  }
  return {{"dilations", Ints{1, 1}},
          {"group", std::int64_t{1}},
          {"kernel_shape", kernel},
          {"pads", pads},
          {"strides", strides}};
}

bool Lower(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  const auto window = DenseWindow(graph, node);
  if (!window) return false;
  const Tensor weights = *graph.ConstantOf(node.inputs[1]);
  const TensorType y = graph.type(node.outputs[0]);
  const ConvShape conv{graph.type(node.inputs[0]).shape, weights.shape(), y.shape, window->strides};
  const Neighbours neighbours = BestNeighbours(conv);
  if (!Pays(conv, neighbours)) return false;
  std::vector<ValueId> inputs = {
      node.inputs[0],
      rewriter.AddConstant(node.name + "_neighbours", NeighbourWeights(weights, conv, neighbours))};
  if (HasInput(node, kBiasInput)) {
    const Tensor bias = *graph.ConstantOf(node.inputs[kBiasInput]);
    inputs.push_back(rewriter.AddConstant(node.name + "_bias",
                                          RepeatedBias(bias, neighbours.count(), /*all=*/true)));
  }
  const Shape extents = conv.Extents(neighbours);
  const TensorType image{y.element,
                         {y.shape[0], y.shape[1] * neighbours.count(), extents[0], extents[1]}};
  const ValueId result = rewriter.Insert(graph.MakeNode(
      "Conv", std::move(inputs), image, AttributesOf(conv, *window, neighbours), node.name));
  MakeSubpixelShuffle(node, result, {neighbours.rows, neighbours.columns}, {0, 0},
                      /*phases_first=*/true);
  return true;
}

}  // namespace

absl::Status LowerThinConv(ir::Graph& graph, const PassContext&) {
  return LowerToSubpixelConvolutions(graph, Lower);
}

}  // namespace poprt::passes
