#include "passes/lowering/lower_pixel_conv.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// Fewer are read as fast where they are, without conversions of what is around them.
constexpr std::int64_t kFewestWeights = 1 << 14;

/// [B, C, 1, ...] as [B, C].
TensorType AsMatrix(const TensorType& image) {
  return {image.element, {image.shape[0], image.shape[1]}};
}

/// With padding, the only pixel of the result may be one of zeros.
bool IsOfPixels(const ir::Graph& graph, const Node& conv) {
  const Shape& x = graph.type(conv.inputs[0]).shape;
  const Shape& y = graph.type(conv.outputs[0]).shape;
  const Shape& w = graph.type(conv.inputs[1]).shape;
  const auto is_one = [](const Shape& shape) {
    return ElementCount({shape.begin() + 2, shape.end()}) == 1;
  };
  const bool is_padded = std::ranges::any_of(conv.attributes.get_ints("pads"),
                                             [](std::int64_t pad) { return pad != 0; });
  return is_one(x) && is_one(y) && is_one(w) && !is_padded && w[1] == x[1] &&
         ElementCount(w) >= kFewestWeights;
}

bool Lower(Rewriter& rewriter, Node& conv) {
  ir::Graph& graph = rewriter.graph();
  if (conv.op != "FusedConv" || HasInput(conv, kResidualInput)) return false;
  const Tensor* constant = graph.ConstantOf(conv.inputs[1]);
  if (constant == nullptr || !IsOfPixels(graph, conv)) return false;
  const Tensor filters = *constant;
  const TensorType x = AsMatrix(graph.type(conv.inputs[0]));
  const TensorType y = graph.type(conv.outputs[0]);
  std::vector<ValueId> inputs = conv.inputs;
  inputs[0] = rewriter.Insert(
      graph.MakeNode("Reshape", {inputs[0]}, x, {{"shape", x.shape}}, conv.name + "_row"));
  inputs[1] =
      rewriter.AddConstant(graph.value(inputs[1]).name, filters.WithType(AsMatrix(filters.type())));
  const ValueId product = rewriter.Insert(graph.MakeNode(
      "FusedMatMul", std::move(inputs), AsMatrix(y), ProductAttributes(conv), conv.name));
  conv.op = "Reshape";
  conv.inputs = {product};
  conv.attributes = {{"shape", y.shape}};
  return true;
}

}  // namespace

absl::Status LowerPixelConv(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
