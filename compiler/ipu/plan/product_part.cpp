#include "compiler/ipu/plan/product_part.hpp"

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {

std::uint64_t InputExchangeRate(const Target& target, const ProductSplits& splits) {
  return splits.shares_inputs() ? target.shared_exchange_bytes_per_cycle
                                : target.exchange_bytes_per_cycle;
}

ProductPart PartOf(const Product& product, const ProductVertex& vertex,
                   const ProductSplits& splits) {
  ProductPart part;
  part.images = CeilDivide(product.batch, splits.batch);
  part.height = CeilDivide(product.height, splits.height);
  part.width = CeilDivide(product.width, splits.width);
  TileProduct& tile = part.tile;
  tile.group_grains = CeilDivide(CeilDivide(product.groups, vertex.group_grain), splits.groups);
  tile.rows = part.images * part.height;
  tile.row_width = part.width;
  tile.kernel_rows = CeilDivide(product.kernel_height, splits.kernel);
  tile.in_grains =
      CeilDivide(CeilDivide(product.in_channels, vertex.in_grain), splits.in * splits.in_serial);
  tile.out_grains = CeilDivide(CeilDivide(product.out_channels, vertex.out_grain),
                               splits.out * splits.out_serial);
  const std::uint64_t groups = tile.group_grains * vertex.group_grain;
  const std::uint64_t in = tile.in_grains * vertex.in_grain;
  const std::uint64_t out = tile.out_grains * vertex.out_grain;
  part.inputs = groups * part.images * in * InputRows(product, part.height, tile.kernel_rows) *
                InputColumns(product, part.width);
  part.weights = groups * in * out * tile.kernel_rows * product.kernel_width;
  part.partials = groups * out * tile.rows * tile.row_width;
  return part;
}

}  // namespace poprt::ipu
