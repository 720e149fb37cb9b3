#include "passes/lowering/choose_short_weights.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"

namespace poprt::passes {
namespace {

constexpr std::int64_t Floats(std::int64_t bytes) {
  return bytes / static_cast<std::int64_t>(sizeof(float));
}

/// Fewer weights stay in the first-level cache, from where they come as fast as they are used.
constexpr std::int64_t kFewestWeights = Floats(64 << 10);

/// Fewer come from a cache as fast as several rows are multiplied by them, where they stay in the
/// second-level one.
constexpr std::int64_t kFewestOfFewRows = Floats(4 << 20);

/// Where those of all products of few rows are as many, none stays there, and fewer are enough.
constexpr std::int64_t kManyOfFewRows = Floats(8 << 20);
constexpr std::int64_t kFewestOfMany = Floats(1 << 20);

/// Fewer filters, or weights of fewer rows than kManyRows, take little memory, and stay in a cache
/// from where widening them takes longer than they take to come.
constexpr std::int64_t kFewestWidened = Floats(1 << 20);

/// Those of 7x7 pixels, for which widening takes a tenth of the time; fewer are not worth it.
constexpr std::int64_t kFewestTiles = 16;

/// Pixels of an image of direct ones.
constexpr std::int64_t kFewestPixels = 49;

/// Fewer columns are not multiplied by side by side.
constexpr std::int64_t kFewestColumns = kernels::kMostTilePanels * kernels::kPanel;

/// Rows from which on products are about as fast by weights that are widened first: from the
/// third-level cache 2 % slower.
constexpr std::int64_t kManyRows = 128;

/// Rows from which on they are 5 to 10 % slower, but 1.2 to 1.3 times as fast on a matrix unit. 32
/// rows are 12 to 20 % slower, where all such products have so few weights that these stay in a
/// cache; of more, 16 to 48 rows are 5 to 10 % slower, or 1.2 times as fast.
constexpr std::int64_t kSomeRows = 64;
constexpr std::int64_t kFewestSomeRows = 16;
constexpr std::int64_t kManyOfSomeRows = Floats(32 << 20);

/// Inputs of an operator that may be short if they are large: those that it multiplies by. The last
/// one decides.
struct Weights {
  std::vector<std::size_t> inputs;
  std::int64_t fewest = kFewestWeights;
};

/// A product of float32, by weights that are no integers.
bool IsOfFloats(const ir::Graph& graph, const ir::Node& node) {
  return node.op == "FusedMatMul" && !node.attributes.has("bits") &&
         graph.type(node.inputs[0]).element == ElementType::kFloat32 &&
         graph.type(node.outputs[0]).shape.back() >= kFewestColumns;
}

std::int64_t RowsOf(const ir::Graph& graph, const ir::Node& product) {
  const Shape& x = graph.type(product.inputs[0]).shape;
  return ElementCount(Shape(x.begin(), x.end() - 1));
}

bool IsOfFewRows(std::int64_t rows) { return rows > 1 && rows <= kernels::kMostScaledRows; }
bool IsOfSomeRows(std::int64_t rows) { return rows >= kFewestSomeRows && rows < kSomeRows; }

/// Weights that all products of a kind of a graph have together.
struct WeightsOfGraph {
  explicit WeightsOfGraph(const ir::Graph& graph)
      : of_few_rows(Count(graph, IsOfFewRows)), of_some_rows(Count(graph, IsOfSomeRows)) {}

  /// Of products of so many rows, each matrix once.
  static std::int64_t Count(const ir::Graph& graph, bool (*is_of_kind)(std::int64_t rows)) {
    std::set<ir::ValueId> seen;
    std::int64_t count = 0;
    for (const ir::Node& node : graph.nodes) {
      if (!IsOfFloats(graph, node) || !is_of_kind(RowsOf(graph, node))) continue;
      const Tensor* constant = graph.ConstantOf(node.inputs[1]);
      if (constant != nullptr && seen.insert(node.inputs[1]).second) count += constant->count();
    }
    return count;
  }

  std::int64_t of_few_rows;
  std::int64_t of_some_rows;
};

Weights OfProduct(const ir::Graph& graph, const ir::Node& node, const WeightsOfGraph& all) {
  if (!IsOfFloats(graph, node)) return {};
  const std::int64_t rows = RowsOf(graph, node);
  if (rows == 1 || rows >= kManyRows) return {.inputs = {1}};
  if (rows >= kSomeRows || (IsOfSomeRows(rows) && all.of_some_rows >= kManyOfSomeRows)) {
    return {.inputs = {1}, .fewest = kFewestWidened};
  }
  if (!IsOfFewRows(rows)) return {};
  return {.inputs = {1},
          .fewest = all.of_few_rows >= kManyOfFewRows ? kFewestOfMany : kFewestOfFewRows};
}

Weights OfRecurrent(const ir::Graph& graph, const ir::Node& node) {
  if (node.attributes.has("x_perm")) return {};
  const Shape& x = graph.type(node.inputs[0]).shape;
  const std::int64_t sequences = x.at(node.attributes.get_int("layout", 0) != 0 ? 0 : 1);
  if (sequences != 1) return {};
  return {.inputs = {1, 2}};
}

/// Direct ones of images in blocks of channels, where each weight meets enough pixels to be
/// widened.
Weights OfDirectConvolution(const ir::Graph& graph, const ir::Node& node) {
  const Shape& x = graph.type(node.inputs[0]).shape;
  const Shape& y = graph.type(node.outputs[0]).shape;
  constexpr std::size_t kBlockedRank = 5;
  const bool is_plain = node.attributes.get_int("group", 1) == 1 && x.size() == kBlockedRank;
  if (!is_plain || y.size() != kBlockedRank || y[2] * y[3] < kFewestPixels) return {};
  return {.inputs = {1}, .fewest = kFewestWidened};
}

/// Of Winograd's smaller tile, where each of its weights meets enough tiles to be widened; the
/// larger one has few. Spare lanes of input channels would cut blocks of rows.
Weights OfConvolution(const ir::Graph& graph, const ir::Node& node) {
  const std::int64_t tile = node.attributes.get_int("winograd_tile", 0);
  if (tile == 0) return OfDirectConvolution(graph, node);
  if (tile != 2) return {};
  const Shape& y = graph.type(node.outputs[0]).shape;
  const std::int64_t tiles = y[0] * kernels::CeilDiv(y[2], tile) * kernels::CeilDiv(y[3], tile);
  const bool has_whole_blocks = graph.type(node.inputs[1]).shape.at(1) % kernels::kPanel == 0;
  if (tiles < kFewestTiles || !has_whole_blocks) return {};
  return {.inputs = {1}, .fewest = kFewestWidened};
}

Weights WeightsOf(const ir::Graph& graph, const ir::Node& node, const WeightsOfGraph& all) {
  if (node.op == "FusedMatMul") return OfProduct(graph, node, all);
  if (node.op == "BlockedConv") return OfConvolution(graph, node);
  if (IsRecurrent(node)) return OfRecurrent(graph, node);
  return {};
}

bool CanBeShort(const ir::Graph& graph, const ir::Node& node, const WeightsOfGraph& all) {
  const Weights weights = WeightsOf(graph, node, all);
  if (weights.inputs.empty()) return false;
  if (graph.type(node.inputs[0]).element != ElementType::kFloat32) return false;
  const auto constant = [&](std::size_t input) { return graph.ConstantOf(node.inputs[input]); };
  const Tensor* last = constant(weights.inputs.back());
  if (last == nullptr || last->count() < weights.fewest) return false;
  return std::ranges::all_of(weights.inputs,
                             [&](std::size_t input) { return constant(input) != nullptr; });
}

}  // namespace

absl::Status ChooseShortWeights(ir::Graph& graph, const PassContext&) {
  const WeightsOfGraph all(graph);
  Rewrite(graph, [&all](Rewriter& rewriter, ir::Node& node) {
    if (node.attributes.has("short_weights")) return false;
    if (!CanBeShort(rewriter.graph(), node, all)) return false;
    node.attributes.set("short_weights", std::int64_t{1});
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
