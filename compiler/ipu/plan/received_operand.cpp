#include "compiler/ipu/plan/received_operand.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/product_part.hpp"

namespace poprt::ipu {
namespace {

/// Inputs that lie on several tiles are in pieces of as many bytes at least.
constexpr std::uint64_t kLeastPieceBytes = 64;

/// Tiles from which so many bytes come, of which each sends one piece.
std::uint64_t Parts(std::uint64_t bytes, std::uint64_t sources, std::uint64_t piece) {
  if (bytes == 0) return 0;
  return std::clamp<std::uint64_t>(bytes / piece, 1, std::max<std::uint64_t>(sources, 1));
}

/// Positions that a tile needs of an operand.
struct Field {
  std::uint64_t rows = 1;
  std::uint64_t positions = 1;  ///< of a row, neighbours in the operand
};

/// Of the inputs: rows of its window, one if it takes them whole.
Field InputField(const ProductPlan& plan) {
  const Product& product = plan.variant.product;
  const ProductSplits& splits = plan.splits;
  const ProductPart part = PartOf(product, plan.vertex, splits);
  const std::uint64_t height = InputRows(product, part.height, part.tile.kernel_rows);
  const std::uint64_t width = InputColumns(product, part.width);
  if (splits.width > 1) return {part.images * height, width};
  if (splits.height * splits.kernel > 1) return {part.images, height * width};
  return {1, part.images * height * width};
}

/// Of the weights: output channels.
Field WeightField(const ProductPlan& plan) {
  const ProductSplits& splits = plan.splits;
  return {1, CeilDivide(plan.variant.product.out_channels, splits.out * splits.out_serial)};
}

/// Positions that lie together in a region of a tile, with a run of channels each.
std::uint64_t RegionPositions(const Placed& operand) {
  const Layout& layout = operand.layout;
  if (layout.runs_together > 0) return layout.runs_together;
  const std::uint64_t columns =
      CeilDivide(InnerExtent(layout, operand.type.shape), std::max<std::uint64_t>(layout.parts, 1));
  return std::max<std::uint64_t>(CeilDivide(ElementsPerTile(operand), columns), 1);
}

/// Pieces in which a tile receives its part of an operand that lies elsewhere: what is in one
/// region of a tile comes at once. A row begins anywhere in a region.
std::uint64_t Pieces(const ProductPlan& plan, const Placed& operand, const Field& field) {
  const Product& product = plan.variant.product;
  const ProductSplits& splits = plan.splits;
  const std::uint64_t channels = CeilDivide(product.groups, splits.groups) *
                                 CeilDivide(product.in_channels, splits.in * splits.in_serial);
  const std::uint64_t run = std::max<std::uint64_t>(operand.layout.run, 1);
  // Nothing puts parts of runs together before they are sent.
  if (channels < run) return field.rows * field.positions;
  // On average a row meets 1 + (positions - 1) / region of them.
  const std::uint64_t rows = CeilDivide(channels, run) * field.rows;
  return rows + CeilDivide(rows * (field.positions - 1), RegionPositions(operand));
}

/// What the tiles need of an operand, `users` of them the same.
struct Needed {
  std::uint64_t bytes = 0;     ///< when nothing of it is there
  std::uint64_t received = 0;  ///< when it lies where the plan has it
  std::uint64_t users = 1;
  std::uint64_t piece = 1;  ///< bytes that come together at least when it is spread
  Field field = {};
};

ReceivedOperand Received(const ProductPlan& plan, const Placed& operand, bool local,
                         const Needed& needed) {
  ReceivedOperand result{.bytes = local ? needed.received : needed.bytes,
                         .users = needed.users,
                         .spread = local || operand.constant,
                         .constant = operand.constant};
  const std::uint64_t sources = needed.users - (local ? 1U : 0U);
  result.pieces = result.spread ? Parts(result.bytes, sources, needed.piece)
                                : Pieces(plan, operand, needed.field);
  return result;
}

}  // namespace

ReceivedOperand ReceivedInput(const ProductPlan& plan, const Placed& operand, bool local) {
  return Received(plan, operand, local,
                  {.bytes = plan.cost.input_bytes,
                   .received = plan.cost.input_received,
                   .users = plan.splits.input_users(),
                   .piece = kLeastPieceBytes,
                   .field = InputField(plan)});
}

ReceivedOperand ReceivedWeights(const ProductPlan& plan, const Placed& operand, bool local) {
  return Received(plan, operand, local,
                  {.bytes = plan.cost.weight_bytes,
                   .received = plan.cost.weight_received,
                   .users = plan.splits.field(),
                   .piece = plan.vertex.panel_bytes(),
                   .field = WeightField(plan)});
}

}  // namespace poprt::ipu
