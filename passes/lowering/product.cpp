#include "passes/lowering/product.hpp"

#include <algorithm>

#include "passes/constant_values.hpp"

namespace poprt::passes {
namespace {

void Multiply(Rewriter& rewriter, ir::ValueId id, Product& product);

/// Multiplies with what the node computes; false if the node is no product.
bool MultiplyNode(Rewriter& rewriter, const ir::Node& node, Product& product) {
  const ir::Graph& graph = rewriter.graph();
  if (node.op == "Mul") {
    Multiply(rewriter, node.inputs[0], product);
    Multiply(rewriter, node.inputs[1], product);
    return true;
  }
  if (node.op != "Div" && node.op != "Pow") return false;
  const std::optional<double> right = UniformValue(graph, node.inputs[1]);
  if (!right || *right == 0) return false;
  if (node.op == "Div") {
    product.constant /= *right;
    Multiply(rewriter, node.inputs[0], product);
    return true;
  }
  if (*right != 2 && *right != 3) return false;
  for (int i = 0; i < static_cast<int>(*right); ++i) Multiply(rewriter, node.inputs[0], product);
  return true;
}

void Multiply(Rewriter& rewriter, ir::ValueId id, Product& product) {
  if (const std::optional<double> value = UniformValue(rewriter.graph(), id)) {
    product.constant *= *value;
    return;
  }
  const ir::Node* node = rewriter.Producer(id);
  const bool own = node != nullptr && rewriter.UsedOnlyBy(1, id);
  if (own && MultiplyNode(rewriter, *node, product)) return;
  product.factors.push_back(id);
}

}  // namespace

Product ProductOf(Rewriter& rewriter, ir::ValueId id) {
  Product product;
  Multiply(rewriter, id, product);
  std::ranges::sort(product.factors);
  return product;
}

Product ProductOf(Rewriter& rewriter, const ir::Node& node) {
  Product product;
  if (!MultiplyNode(rewriter, node, product)) product.factors = {node.outputs[0]};
  std::ranges::sort(product.factors);
  return product;
}

std::optional<ir::ValueId> AddedToOne(Rewriter& rewriter, ir::ValueId id) {
  const ir::Node* add = rewriter.Producer(id, "Add");
  if (add == nullptr || !rewriter.UsedOnlyBy(1, id)) return std::nullopt;
  if (UniformValue(rewriter.graph(), add->inputs[0]) == 1.0) return add->inputs[1];
  if (UniformValue(rewriter.graph(), add->inputs[1]) == 1.0) return add->inputs[0];
  return std::nullopt;
}

std::optional<ir::ValueId> OtherFactor(const Product& product, ir::ValueId known) {
  if (product.factors.size() != 2) return std::nullopt;
  if (product.factors[0] == known) return product.factors[1];
  if (product.factors[1] == known) return product.factors[0];
  return std::nullopt;
}

}  // namespace poprt::passes
