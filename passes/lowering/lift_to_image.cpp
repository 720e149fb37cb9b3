#include "passes/lowering/lift_to_image.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/hoist_activation.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// [B, C, W] -> [B, C, 1, W].
TensorType AsImage(TensorType type) {
  type.shape.insert(type.shape.end() - 1, 1);
  return type;
}

/// The attributes of a convolution or pool, with everything resolved and a second axis in front.
/// Nothing for a ConvTranspose whose result is longer than its own attributes may say.
std::optional<Attributes> ImageAttributes(const Node& node, const TensorType& x,
                                          std::int64_t kernel) {
  const Shape spatial{x.shape[2]};
  const bool transposed = node.op == "ConvTranspose";
  const auto geometry = transposed
                            ? kernels::ResolveTransposedWindow(node.attributes, spatial, {kernel})
                            : kernels::TransposedWindow{
                                  kernels::ResolveWindow(node.attributes, spatial, {kernel}), {}};
  const kernels::Window& window = geometry.window;
  Attributes attributes = node.attributes;
  attributes.erase("auto_pad");
  attributes.erase("output_shape");
  attributes.set("dilations", Ints{1, window.dilations[0]});
  attributes.set("kernel_shape", Ints{1, kernel});
  attributes.set("pads", Ints{0, window.pads_begin[0], 0, window.pads_end[0]});
  attributes.set("strides", Ints{1, window.strides[0]});
  if (!transposed) return attributes;
  const std::int64_t padding =
      geometry.output[0] - (window.strides[0] * (spatial[0] - 1) + window.Reach(0) -
                            window.pads_begin[0] - window.pads_end[0]);
  if (padding < 0 || padding >= window.strides[0] || window.pads_begin[0] < 0 ||
      window.pads_end[0] < 0) {
    return std::nullopt;
  }
  attributes.set("output_padding", Ints{0, padding});
  return attributes;
}

/// Whether the node quantises or dequantises all elements alike.
bool IsUniformQuantization(const ir::Graph& graph, const Node& node) {
  if (node.op != "QuantizeLinear" && node.op != "DequantizeLinear") return false;
  return ElementCount(graph.type(node.inputs[1]).shape) == 1 &&
         node.attributes.get_int("block_size", 0) == 0 &&
         QuantizationParametersOf(graph, node).has_value();
}

/// The DequantizeLinear of all elements alike that makes the value, or null.
const Node* UniformDequantization(Rewriter& rewriter, ValueId value) {
  const Node* made = rewriter.Producer(value, "DequantizeLinear");
  return made != nullptr && IsUniformQuantization(rewriter.graph(), *made) ? made : nullptr;
}

ValueId InsertReshape(Rewriter& rewriter, ValueId value, const Shape& shape,
                      const std::string& name) {
  ir::Graph& graph = rewriter.graph();
  const TensorType type{graph.type(value).element, shape};
  return rewriter.Insert(graph.MakeNode("Reshape", {value}, type, {{"shape", shape}}, name));
}

void BecomeReshape(Node& node, ValueId value, const Shape& shape) {
  node.op = "Reshape";
  node.inputs = {value};
  node.attributes = {{"shape", shape}};
}

/// The rows as an image. Where they are quantised and dequantised, the image is: what looks for
/// that before an operator finds it.
ValueId MakeImage(Rewriter& rewriter, ValueId row, const std::string& name) {
  ir::Graph& graph = rewriter.graph();
  const Shape shape = AsImage(graph.type(row)).shape;
  std::vector<Node> repeated;
  if (const Node* dequantize = UniformDequantization(rewriter, row)) {
    repeated.push_back(*dequantize);
    row = dequantize->inputs[0];
    const Node* quantize = rewriter.Producer(row, "QuantizeLinear");
    if (quantize != nullptr && IsUniformQuantization(graph, *quantize)) {
      repeated.push_back(*quantize);
      row = quantize->inputs[0];
    }
  }
  ValueId image = InsertReshape(rewriter, row, shape, name + "_image");
  for (; !repeated.empty(); repeated.pop_back()) {
    Node& node = repeated.back();
    const TensorType type{graph.type(node.outputs[0]).element, shape};
    node.inputs[0] = image;
    image = rewriter.Insert(
        graph.MakeNode(node.op, node.inputs, type, node.attributes, node.name + "_image"));
  }
  return image;
}

/// The input of a convolution that its weights are; nothing for other operators.
std::optional<std::size_t> WeightsInput(const Node& node) {
  if (node.op == "Conv" || node.op == "ConvTranspose") return 1;
  if (node.op == "QLinearConv") return kernels::QLinearConvInput::kW;
  return {};
}

bool Lift(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  const std::optional<std::size_t> w = WeightsInput(node);
  if (!w) return false;
  constexpr std::size_t kOneSpatialAxis = 3;
  const TensorType x = graph.type(node.inputs[0]);
  const TensorType y = graph.type(node.outputs[0]);
  const Tensor* found = graph.ConstantOf(node.inputs[*w]);
  if (found == nullptr || x.shape.size() != kOneSpatialAxis) return false;
  if (node.op != "QLinearConv" && !IsBackendType(x.element)) return false;
  if (ElementCount(y.shape) == 0 || x.bytes() == 0 || found->count() == 0) return false;
  const Tensor weights = *found;
  std::optional<Attributes> attributes = ImageAttributes(node, x, weights.shape()[2]);
  if (!attributes) return false;
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = MakeImage(rewriter, inputs[0], node.name);
  inputs[*w] =
      rewriter.AddConstant(graph.value(inputs[*w]).name, weights.WithType(AsImage(weights.type())));
  const ValueId result = rewriter.Insert(
      graph.MakeNode(node.op, inputs, AsImage(y), *std::move(attributes), node.name));
  BecomeReshape(node, result, y.shape);
  return true;
}

/// The image of one row that a Reshape makes the value of, or kAbsent.
ValueId ImageOf(Rewriter& rewriter, ValueId row) {
  const Node* reshape = rewriter.Producer(row, "Reshape");
  if (reshape == nullptr) return ir::kAbsent;
  const ir::Graph& graph = rewriter.graph();
  constexpr std::size_t kRowRank = 3;
  const TensorType& type = graph.type(row);
  const ValueId image = reshape->inputs[0];
  const bool is_row = type.shape.size() == kRowRank && graph.type(image) == AsImage(type);
  return is_row ? image : ir::kAbsent;
}

/// Sums of rows that come from images become sums of those; rows that are dequantised may be added
/// to them.
bool LiftSum(Rewriter& rewriter, Node& node) {
  if (node.op != "Add") return false;
  ir::Graph& graph = rewriter.graph();
  std::vector<ValueId> images;
  for (const ValueId row : node.inputs) {
    images.push_back(ImageOf(rewriter, row));
    const bool can_be =
        images.back() != ir::kAbsent || UniformDequantization(rewriter, row) != nullptr;
    if (!can_be || graph.type(row) != graph.type(node.inputs[0])) return false;
  }
  if (std::ranges::count(images, ir::kAbsent) == std::ssize(images)) return false;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (images[i] == ir::kAbsent) images[i] = MakeImage(rewriter, node.inputs[i], node.name);
  }
  const TensorType row = graph.type(node.outputs[0]);
  const ValueId sum = rewriter.Insert(graph.MakeNode("Add", images, AsImage(row), {}, node.name));
  BecomeReshape(node, sum, row.shape);
  return true;
}

/// Rows that come from images are quantised and dequantised as those.
bool LiftQuantization(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  if (!IsUniformQuantization(graph, node)) return false;
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = ImageOf(rewriter, inputs[0]);
  if (inputs[0] == ir::kAbsent) return false;
  const TensorType row = graph.type(node.outputs[0]);
  const ValueId image =
      rewriter.Insert(graph.MakeNode(node.op, inputs, AsImage(row), node.attributes, node.name));
  BecomeReshape(node, image, row.shape);
  return true;
}

/// The pooling of whole images that the node is a mean or maximum of each row like; empty for
/// others.
std::string_view GlobalPoolLike(const Node& node) {
  if (node.op == "GlobalAveragePool" || node.op == "GlobalMaxPool") return node.op;
  const Ints axes = node.attributes.get_ints("axes");
  if (axes != Ints{2} && axes != Ints{-1}) return {};
  if (node.op == "ReduceMean") return "GlobalAveragePool";
  return node.op == "ReduceMax" ? "GlobalMaxPool" : "";
}

/// Pools, means and maxima of rows that come from images become those of images.
bool LiftPool(Rewriter& rewriter, Node& node) {
  const bool has_window = node.op == "MaxPool" || node.op == "AveragePool";
  const std::string op(has_window ? node.op : GlobalPoolLike(node));
  if (op.empty() || node.outputs.size() > 1) return false;
  const ValueId image = ImageOf(rewriter, node.inputs[0]);
  if (image == ir::kAbsent) return false;
  ir::Graph& graph = rewriter.graph();
  TensorType pooled = graph.type(image);
  if (!IsBackendType(pooled.element) || pooled.bytes() == 0) return false;
  const Shape shape = graph.type(node.outputs[0]).shape;
  pooled.shape[3] = has_window ? shape[2] : 1;
  std::optional<Attributes> attributes{std::in_place};
  if (has_window) {
    attributes = ImageAttributes(node, graph.type(node.inputs[0]),
                                 node.attributes.get_ints("kernel_shape")[0]);
  }
  const ValueId result =
      rewriter.Insert(graph.MakeNode(op, {image}, pooled, *std::move(attributes), node.name));
  BecomeReshape(node, result, shape);
  return true;
}

/// Where nothing else reads the image that is dequantised, rows are dequantised again: what
/// multiplies by them looks for that.
bool LowerDequantization(Rewriter& rewriter, Node& node) {
  if (node.op != "Reshape" || ImageOf(rewriter, node.outputs[0]) == ir::kAbsent) return false;
  const Node* made = UniformDequantization(rewriter, node.inputs[0]);
  if (made == nullptr || !rewriter.UsedOnlyBy(1, node.inputs[0])) return false;
  const Node dequantize = *made;
  const Shape shape = rewriter.graph().type(node.outputs[0]).shape;
  node.op = dequantize.op;
  node.inputs = dequantize.inputs;
  node.inputs[0] = InsertReshape(rewriter, dequantize.inputs[0], shape, dequantize.name + "_row");
  node.attributes = dequantize.attributes;
  return true;
}

bool LiftRows(Rewriter& rewriter, Node& node) {
  return LiftSum(rewriter, node) || LiftPool(rewriter, node) || LiftQuantization(rewriter, node);
}

}  // namespace

absl::Status LiftToImage(ir::Graph& graph, const PassContext&) {
  try {
    bool lifted = Rewrite(graph, Lift);
    do {
      if (lifted) {
        HoistActivations(graph, {"Reshape"},
                         ResultOf({"Conv", "ConvTranspose", "Add", "AveragePool", "MaxPool"}));
      }
      lifted = Rewrite(graph, LiftRows);
    } while (lifted);
    Rewrite(graph, LowerDequantization);
  } catch (const kernels::KernelError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
