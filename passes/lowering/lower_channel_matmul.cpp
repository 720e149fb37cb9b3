#include "passes/lowering/lower_channel_matmul.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "passes/lowering/fused_operator.hpp"
#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

constexpr std::size_t kRowRank = 3;
/// Longer sums take so long that two Transposes cost less than a convolution that is slower.
constexpr std::int64_t kMostChannels = 512;
/// Transposes of fewer pixels cost little, and a product reads its weights once for all images.
constexpr std::int64_t kFewestPixels = 16;

/// [K, N], or [N, K] if transposed, -> [N, K, 1, 1].
Tensor AsFilters(const Tensor& weights, bool transposed) {
  const std::int64_t depth = weights.shape()[transposed ? 1 : 0];
  const std::int64_t columns = weights.shape()[transposed ? 0 : 1];
  const TensorType type{weights.element(), {columns, depth, 1, 1}};
  if (transposed) return weights.WithType(type);
  Tensor filters(type);
  const std::size_t size = ElementSize(weights.element());
  for (std::int64_t n = 0; n < columns; ++n) {
    for (std::int64_t k = 0; k < depth; ++k) {
      std::memcpy(filters.mutable_data() + static_cast<std::size_t>(n * depth + k) * size,
                  weights.data() + static_cast<std::size_t>(k * columns + n) * size, size);
    }
  }
  return filters;
}

/// [B, C, W] -> [B, C, 1, W].
Shape AsImage(Shape shape) {
  if (shape.size() == kRowRank) shape.insert(shape.end() - 1, 1);
  return shape;
}

/// The attributes of a Conv of single pixels with the activation of `matmul`.
Attributes PixelAttributes(const Node& matmul) {
  Attributes attributes{{"dilations", Ints{1, 1}},
                        {"group", std::int64_t{1}},
                        {"kernel_shape", Ints{1, 1}},
                        {"pads", Ints{0, 0, 0, 0}},
                        {"strides", Ints{1, 1}}};
  for (const auto& [name, value] : matmul.attributes.entries()) {
    if (name != "trans_b") attributes.set(name, value);
  }
  return attributes;
}

bool Lower(Rewriter& rewriter, Node& back) {
  ir::Graph& graph = rewriter.graph();
  if (back.op != "Transpose") return false;
  const ValueId product = back.inputs[0];
  const Node* matmul = rewriter.Producer(product, "FusedMatMul");
  if (matmul == nullptr || !rewriter.UsedOnlyBy(1, product)) return false;
  if (HasInput(*matmul, kResidualInput)) return false;
  const Node* forth = rewriter.Producer(matmul->inputs[0], "Transpose");
  if (forth == nullptr) return false;
  const bool is_row = graph.type(product).shape.size() == kRowRank;
  if (PermutationOf(graph, *forth) != (is_row ? Ints{0, 2, 1} : Ints{0, 2, 3, 1}) ||
      PermutationOf(graph, back) != (is_row ? Ints{0, 2, 1} : Ints{0, 3, 1, 2})) {
    return false;
  }
  const ValueId x = forth->inputs[0];
  const Shape& shape = graph.type(x).shape;
  if (shape[1] > kMostChannels) return false;
  if (ElementCount({shape.begin() + 2, shape.end()}) < kFewestPixels) return false;
  const Tensor weights = *graph.ConstantOf(matmul->inputs[1]);
  const bool transposed = matmul->attributes.get_int("trans_b", 0) != 0;
  const TensorType y = graph.type(back.outputs[0]);
  const TensorType image{y.element, AsImage(graph.type(x).shape)};
  std::vector<ValueId> inputs{
      x, rewriter.AddConstant(graph.value(matmul->inputs[1]).name, AsFilters(weights, transposed))};
  if (HasInput(*matmul, kBiasInput)) inputs.push_back(matmul->inputs[kBiasInput]);
  Attributes attributes = PixelAttributes(*matmul);
  if (!is_row) {
    back.op = "FusedConv";
    back.inputs = std::move(inputs);
    back.attributes = std::move(attributes);
    return true;
  }
  inputs[0] = rewriter.Insert(
      graph.MakeNode("Reshape", {x}, image, {{"shape", image.shape}}, back.name + "_image"));
  const ValueId result =
      rewriter.Insert(graph.MakeNode("FusedConv", std::move(inputs), {y.element, AsImage(y.shape)},
                                     std::move(attributes), back.name));
  back.op = "Reshape";
  back.inputs = {result};
  back.attributes = {{"shape", y.shape}};
  return true;
}

}  // namespace

absl::Status LowerChannelMatMul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
