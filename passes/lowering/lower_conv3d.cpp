#include "passes/lowering/lower_conv3d.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"
#include "passes/lowering/subpixel_convolution.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

const Ints kExchangeChannelsAndDepth = {0, 2, 1, 3, 4};

/// [B, C, D, H, W] -> [B, out, taps * C, H, W]: what each of `out` slices of the result reads.
ValueId SlicesOfWindows(NodeInserter& insert, ValueId x, const Shape& shape,
                        const kernels::Window& window, std::int64_t out) {
  const std::int64_t depth = shape[2] + window.pads_begin[0] + window.pads_end[0];
  if (depth != shape[2]) {
    x = insert("Pad", {x}, {shape[0], shape[1], depth, shape[3], shape[4]},
               {{"mode", "constant"},
                {"pads", Ints{0, 0, window.pads_begin[0], 0, 0, 0, 0, window.pads_end[0], 0, 0}}});
  }
  x = insert("Transpose", {x}, {shape[0], depth, shape[1], shape[3], shape[4]},
             {{"perm", kExchangeChannelsAndDepth}});
  const Shape taken{shape[0], out, shape[1], shape[3], shape[4]};
  std::vector<ValueId> slices;
  for (std::int64_t tap = 0; tap < window.kernel[0]; ++tap) {
    const std::int64_t first = tap * window.dilations[0];
    slices.push_back(insert("Slice", {x}, taken,
                            {{"axes", Ints{1}},
                             {"ends", Ints{first + (out - 1) * window.strides[0] + 1}},
                             {"starts", Ints{first}},
                             {"steps", Ints{window.strides[0]}}}));
  }
  if (slices.size() == 1) return slices[0];
  return insert("Concat", slices, {shape[0], out, shape[1] * window.kernel[0], shape[3], shape[4]},
                {{"axis", std::int64_t{2}}});
}

/// [O, C, taps, kh, kw] -> [O, taps * C, kh, kw].
Tensor SliceWeights(const Tensor& weights) {
  const Shape& s = weights.shape();
  const TensorType exchanged{weights.element(), {s[0], s[2], s[1], s[3], s[4]}};
  return kernels::RunOnce("Transpose", {weights}, {exchanged},
                          {{"perm", kExchangeChannelsAndDepth}})
      .front()
      .WithType({weights.element(), {s[0], s[2] * s[1], s[3], s[4]}});
}

constexpr std::size_t kThreeSpatialAxes = 5;

bool LowerConv(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  if (node.op != "Conv" || node.attributes.get_int("group", 1) != 1) return false;
  const TensorType x = graph.type(node.inputs[0]);
  const TensorType y = graph.type(node.outputs[0]);
  const Tensor* found = graph.ConstantOf(node.inputs[1]);
  if (found == nullptr || x.shape.size() != kThreeSpatialAxes || !IsBackendType(x.element)) {
    return false;
  }
  if (x.bytes() == 0 || y.bytes() == 0 || found->count() == 0) return false;
  const Tensor weights = *found;
  const kernels::Window window = WindowOf(graph, node);
  const std::int64_t depth = y.shape[2];

  NodeInserter insert(rewriter, node.name);
  const ValueId slices = SlicesOfWindows(insert, node.inputs[0], x.shape, window, depth);
  const Tensor of_images = SliceWeights(weights);
  const Shape images{x.shape[0] * depth, of_images.shape()[1], x.shape[3], x.shape[4]};
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = insert("Reshape", {slices}, images, {{"shape", images}});
  inputs[1] = rewriter.AddConstant(graph.value(node.inputs[1]).name, of_images);
  const Shape result{images[0], y.shape[1], y.shape[3], y.shape[4]};
  const ValueId conv = insert("Conv", inputs, result,
                              {{"dilations", Ints{window.dilations[1], window.dilations[2]}},
                               {"group", std::int64_t{1}},
                               {"kernel_shape", Ints{window.kernel[1], window.kernel[2]}},
                               {"pads", Ints{window.pads_begin[1], window.pads_begin[2],
                                             window.pads_end[1], window.pads_end[2]}},
                               {"strides", Ints{window.strides[1], window.strides[2]}}});
  const Shape apart{x.shape[0], depth, y.shape[1], y.shape[3], y.shape[4]};
  const ValueId parted = insert("Reshape", {conv}, apart, {{"shape", apart}});
  node.op = "Transpose";
  node.inputs = {parted};
  node.attributes = {{"perm", kExchangeChannelsAndDepth}};
  return true;
}

/// Whether positions along the axis become as many others side by side each, and all are wanted.
bool Multiplies(const kernels::TransposedWindow& geometry, const Shape& input, std::size_t axis) {
  const kernels::Window& window = geometry.window;
  return window.kernel[axis] == window.strides[axis] && window.pads_begin[axis] == 0 &&
         window.Reach(axis) == window.kernel[axis] &&
         geometry.output[axis] == input[axis] * window.strides[axis];
}

/// The slices of a volume are images below each other, whose pixels become columns of pixels; the
/// slices that one becomes are channels of the result.
bool LowerConvTranspose(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  if (node.op != "ConvTranspose" || node.attributes.get_int("group", 1) != 1) return false;
  const TensorType x = graph.type(node.inputs[0]);
  const Shape y = graph.type(node.outputs[0]).shape;
  const Tensor* found = graph.ConstantOf(node.inputs[1]);
  if (found == nullptr || x.shape.size() != kThreeSpatialAxes || !IsBackendType(x.element)) {
    return false;
  }
  std::optional<Tensor> bias;
  if (HasInput(node, kBiasInput)) {
    const Tensor* given = graph.ConstantOf(node.inputs[kBiasInput]);
    if (given == nullptr) return false;
    bias = *given;
  }
  if (x.bytes() == 0 || ElementCount(y) == 0 || found->count() == 0) return false;
  const Tensor weights = *found;
  const Shape& s = x.shape;
  const Shape& kernel = weights.shape();
  const Shape spatial{s.begin() + 2, s.end()};
  const kernels::TransposedWindow geometry = kernels::ResolveTransposedWindow(
      node.attributes, spatial, {kernel.begin() + 2, kernel.end()});
  const kernels::Window& window = geometry.window;
  const auto multiplies = [&](std::size_t axis) { return Multiplies(geometry, spatial, axis); };
  if (!multiplies(0) || !multiplies(1) || !multiplies(2)) return false;

  NodeInserter insert(rewriter, node.name);
  const Shape images{s[0], s[1], s[2] * s[3], s[4]};
  const TensorType of_images{weights.element(),
                             {kernel[0], kernel[1] * kernel[2], kernel[3], kernel[4]}};
  std::vector<ValueId> inputs{
      insert("Reshape", {node.inputs[0]}, images, {{"shape", images}}),
      rewriter.AddConstant(graph.value(node.inputs[1]).name, weights.WithType(of_images))};
  if (bias) {
    inputs.push_back(
        rewriter.AddConstant(node.name + "_bias", RepeatedBias(*bias, window.kernel[0], false)));
  }
  const ValueId result =
      insert("ConvTranspose", inputs, {s[0], of_images.shape[1], s[2] * y[3], y[4]},
             {{"kernel_shape", Ints{window.kernel[1], window.kernel[2]}},
              {"strides", Ints{window.strides[1], window.strides[2]}}});
  const Shape apart{s[0], y[1], window.kernel[0], s[2], y[3], y[4]};
  const Shape exchanged{s[0], y[1], s[2], window.kernel[0], y[3], y[4]};
  const ValueId parted = insert("Reshape", {result}, apart, {{"shape", apart}});
  node.inputs = {insert("Transpose", {parted}, exchanged, {{"perm", Ints{0, 1, 3, 2, 4, 5}}})};
  node.op = "Reshape";
  node.attributes = {{"shape", y}};
  return true;
}

bool Lower(Rewriter& rewriter, Node& node) {
  return LowerConv(rewriter, node) || LowerConvTranspose(rewriter, node);
}

}  // namespace

absl::Status LowerConv3d(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, Lower);
  } catch (const kernels::KernelError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
