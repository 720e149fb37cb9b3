#include "passes/lowering/choose_short_weights.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "passes/rewrite.hpp"
#include "runtime/kernels/packed/short_floats.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"

namespace poprt::passes {
namespace {

/// Fewer weights stay in the first-level cache, from where they come as fast as they are used.
constexpr std::int64_t kFewestWeights = (64 << 10) / static_cast<std::int64_t>(sizeof(float));

/// Fewer columns are not multiplied by side by side.
constexpr std::int64_t kFewestColumns = kernels::kMostTilePanels * kernels::kPanel;

/// Rows from which on products are as fast by weights that are widened first, where these come from
/// memory; from the third-level cache they are 2 % slower, of 64 rows 5 %.
constexpr std::int64_t kManyRows = 128;

/// What an operator multiplies by weights.
struct Product {
  std::int64_t rows;                 ///< by the last of the weights, at once
  bool can_widen;                    ///< whether many rows are multiplied by short weights
  std::vector<std::size_t> weights;  ///< inputs
};

std::optional<Product> ProductOf(const ir::Graph& graph, const ir::Node& node) {
  const bool is_product = node.op == "FusedMatMul" && !node.attributes.has("bits");
  const bool is_recurrent = node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
  if (!is_product && !is_recurrent) return {};
  const Shape& x = graph.type(node.inputs[0]).shape;
  if (is_product) {
    if (graph.type(node.outputs[0]).shape.back() < kFewestColumns) return {};
    return Product{ElementCount(Shape(x.begin(), x.end() - 1)), true, {1}};
  }
  return Product{x.at(node.attributes.get_int("layout", 0) != 0 ? 0 : 1), false, {1, 2}};
}

bool CanBeShort(const ir::Graph& graph, const ir::Node& node, const Product& product) {
  if (product.rows != 1 && (product.rows < kManyRows || !product.can_widen)) return false;
  if (graph.type(node.inputs[0]).element != ElementType::kFloat32) return false;
  const Tensor* last = graph.ConstantOf(node.inputs[product.weights.back()]);
  if (last == nullptr || last->count() < kFewestWeights) return false;
  return std::ranges::all_of(product.weights, [&](std::size_t input) {
    const Tensor* weights = graph.ConstantOf(node.inputs[input]);
    return weights != nullptr && kernels::CanBeShort(*weights);
  });
}

}  // namespace

absl::Status ChooseShortWeights(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.attributes.has("short_weights")) return false;
    const auto product = ProductOf(rewriter.graph(), node);
    if (!product || !CanBeShort(rewriter.graph(), node, *product)) return false;
    node.attributes.set("short_weights", std::int64_t{1});
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
