#include "passes/lowering/lower_conv_transpose_to_product.hpp"

#include <stdexcept>

#include "passes/lowering/conv_window.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

constexpr std::int64_t kFewest = 8;
/// Elements of the product, which is memory that nothing else needs.
constexpr std::int64_t kMost = std::int64_t{1} << 27;

/// w[C, O, ...] as [group, O * taps, C / group].
ValueId TransposedWeights(Rewriter& rewriter, const Node& node, std::int64_t group) {
  const ir::Graph& graph = rewriter.graph();
  const TensorType w = graph.type(node.inputs[1]);
  const std::int64_t in = w.shape[0] / group;
  const std::int64_t columns = ElementCount({w.shape.begin() + 1, w.shape.end()});
  const Shape apart{group, in, columns};
  const Shape result{group, columns, in};
  const Attributes order{{"perm", Ints{0, 2, 1}}};
  if (const Tensor* constant = graph.ConstantOf(node.inputs[1])) {
    const Tensor parted = constant->WithType({w.element, apart});
    return rewriter.AddConstant(
        node.name + "_columns",
        kernels::RunOnce("Transpose", {parted}, {{w.element, result}}, order).front());
  }
  NodeInserter insert(rewriter, node.name);
  const ValueId parted = insert("Reshape", {node.inputs[1]}, apart, {{"shape", apart}});
  return insert("Transpose", {parted}, result, order);
}

bool Pays(const ir::Graph& graph, const Node& node, std::int64_t group) {
  const TensorType& x = graph.type(node.inputs[0]);
  const Shape& w = graph.type(node.inputs[1]).shape;
  if (x.element != ElementType::kFloat32 || x.shape.size() < 3) return false;
  const auto columns = CheckedElementCount({w.begin() + 1, w.end()});
  const auto pixels = CheckedElementCount(SpatialOf(x.shape));
  if (!columns || !pixels || ElementCount(graph.type(node.outputs[0]).shape) == 0) return false;
  const auto product = CheckedElementCount({x.shape[0], group, *columns, *pixels});
  return product && *product > 0 && *product <= kMost && w[0] / group >= kFewest &&
         *columns >= kFewest && *pixels >= kFewest;
}

bool Lower(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const std::int64_t group = node.attributes.get_int("group", 1);
  if (node.op != "ConvTranspose" || !Pays(graph, node, group)) return false;
  const Shape x = graph.type(node.inputs[0]).shape;
  const Shape w = graph.type(node.inputs[1]).shape;
  const Shape y = graph.type(node.outputs[0]).shape;
  const auto [window, image] =
      kernels::ResolveTransposedWindow(node.attributes, SpatialOf(x), SpatialOf(w));
  // Pixels that no window reaches would make Col2Im look for more.
  if (kernels::WindowOutputExtents(window, image, false) != SpatialOf(x)) return false;

  const std::int64_t pixels = ElementCount(SpatialOf(x));
  const std::int64_t columns = ElementCount({w.begin() + 1, w.end()});
  const Shape images{x[0], group, x[1] / group, pixels};
  const Shape all{x[0], group * columns, pixels};
  NodeInserter insert(rewriter, node.name);
  const ValueId weights = TransposedWeights(rewriter, node, group);
  const ValueId parted = insert("Reshape", {node.inputs[0]}, images, {{"shape", images}});
  const ValueId product = insert("MatMul", {weights, parted}, {x[0], group, columns, pixels}, {});
  const ValueId joined = insert("Reshape", {product}, all, {{"shape", all}});
  const Attributes blocks{{"block_shape", window.kernel},
                          {"dilations", window.dilations},
                          {"image_shape", image},
                          {"pads", PadsOf(window)},
                          {"strides", window.strides}};
  if (!HasInput(node, kBiasInput)) {
    node.op = "Col2Im";
    node.inputs = {joined};
    node.attributes = blocks;
    return true;
  }
  Shape bias{y[1]};
  bias.resize(y.size() - 1, 1);
  const ValueId result = insert("Col2Im", {joined}, y, blocks);
  const ValueId added = insert("Reshape", {node.inputs[kBiasInput]}, bias, {{"shape", bias}});
  node.op = "Add";
  node.inputs = {result, added};
  node.attributes = {};
  return true;
}

}  // namespace

absl::Status LowerConvTransposeToProduct(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, Lower);
  } catch (const std::runtime_error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
