#include "compiler/ipu/plan/product_vertex.hpp"

#include <algorithm>

#include "compiler/ipu/cost/amp_vertex.hpp"
#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/hmac_vertex.hpp"
#include "compiler/ipu/cost/outer_product_vertex.hpp"
#include "compiler/ipu/cost/slic_vertex.hpp"
#include "compiler/ipu/cost/spatial_amp_vertex.hpp"
#include "compiler/ipu/cost/vmac_vertex.hpp"
#include "compiler/ipu/plan/elementwise_codelet.hpp"

namespace poprt::ipu {
namespace {

/// Output channels that an outer product writes at once.
constexpr std::uint64_t kOuterProductGroup = 16;
/// With more input channels than that AMP always multiplies faster than HMAC.
constexpr std::uint64_t kHmacChannels = 8;
/// Depthwise channels side by side (section 2.4).
constexpr std::uint64_t kVmacGroups[] = {4, 8, 16};

/// Vertices that use 8 units of 16 have fewer weights to load.
constexpr std::uint64_t kNarrowUnits = 8;

/// The vertex before with fewer units, for results that need no more. Only float32 takes as long
/// for a position with either.
void AddNarrowAmp(const Product& product, std::vector<ProductVertex>& vertices) {
  ProductVertex narrow = vertices.back();
  const bool fits = product.out_channels <= kNarrowUnits && narrow.out_grain > kNarrowUnits;
  narrow.out_grain = kNarrowUnits;
  if (product.input == NumberFormat::kFloat32 && fits) vertices.push_back(narrow);
}

void AddAmp(const Target& target, const Product& product, ProductFormat format,
            std::vector<ProductVertex>& vertices) {
  const std::uint64_t group = ConvInputGroup(target, format);
  if (group == 0) return;
  if (!product.spatial() && product.is_flat()) {
    vertices.push_back({.kind = ProductVertexKind::kAmp,
                        .format = format,
                        .in_grain = group,
                        .out_grain = ConvOutputGroup(target, format)});
    return;
  }
  for (const std::uint64_t height : {1U, 2U, 4U}) {
    if (height > product.kernel_height || group % height != 0) continue;
    vertices.push_back({.kind = ProductVertexKind::kSpatialAmp,
                        .format = format,
                        .in_grain = group / height,
                        .out_grain = ConvOutputGroup(target, format),
                        .filter_height = height});
    AddNarrowAmp(product, vertices);
  }
}

/// Groups of 1, 2 or 4 channels, a window of 1 x 4, half or quarter, stride 1 or 2.
void AddSlic(const Product& product, ProductFormat format, std::vector<ProductVertex>& vertices) {
  const bool fits =
      product.in_channels == product.out_channels &&
      (product.in_channels == 1 || product.in_channels == 2 || product.in_channels == 4) &&
      product.groups > 1 && product.stride_width <= 2 && product.input != NumberFormat::kFloat32 &&
      product.spatial() && product.dilation_width == 1;
  if (!fits) return;
  vertices.push_back({.kind = ProductVertexKind::kSlic,
                      .format = format,
                      .in_grain = product.in_channels,
                      .out_grain = product.out_channels,
                      .group_grain = kSlicWindow / product.in_channels});
}

void AddVmac(const Product& product, ProductFormat format, std::vector<ProductVertex>& vertices) {
  const bool depthwise = product.in_channels == 1 && product.out_channels == 1 &&
                         product.groups > 1 && product.input == NumberFormat::kFloat16;
  if (!depthwise) return;
  for (const std::uint64_t groups : kVmacGroups) {
    vertices.push_back({.kind = ProductVertexKind::kVmac,
                        .format = format,
                        .in_grain = 1,
                        .out_grain = 1,
                        .group_grain = groups});
  }
}

void AddHmac(const Product& product, ProductFormat format, std::vector<ProductVertex>& vertices) {
  if (product.input == NumberFormat::kFloat8 || product.in_channels > kHmacChannels) return;
  vertices.push_back({.kind = ProductVertexKind::kHmac,
                      .format = format,
                      .in_grain = product.in_channels,
                      .out_grain = std::min<std::uint64_t>(product.out_channels, 4)});
}

void AddOuterProduct(const Product& product, ProductFormat format,
                     std::vector<ProductVertex>& vertices) {
  if (product.in_channels != 1 || product.spatial() || !product.is_flat() ||
      product.input == NumberFormat::kFloat8) {
    return;
  }
  vertices.push_back({.kind = ProductVertexKind::kOuterProduct,
                      .format = format,
                      .in_grain = 1,
                      .out_grain = kOuterProductGroup});
}

std::uint64_t AmpCycles(const Target& target, const PlanOptions& options,
                        const ProductVertex& vertex, const TileProduct& tile) {
  return AmpVertexCycles(target, {.format = vertex.format,
                                  .load_128bit = options.use_128bit_conv_unit_load,
                                  .rows = tile.rows * tile.row_width,
                                  .in_groups = tile.in_grains,
                                  .out_groups = tile.out_grains,
                                  .conv_groups = tile.group_grains,
                                  .out_group_channels = vertex.out_grain});
}

std::uint64_t SpatialAmpCycles(const Target& target, const PlanOptions& options,
                               const Product& product, const ProductVertex& vertex,
                               const TileProduct& tile) {
  return SpatialAmpVertexCycles(
      target, {.format = vertex.format,
               .load_128bit = options.use_128bit_conv_unit_load && vertex.filter_height != 4,
               .rows = tile.rows,
               .row_width = tile.row_width,
               .kernel_outer = CeilDivide(tile.kernel_rows, vertex.filter_height),
               .kernel_inner = product.kernel_width,
               .filter_height = vertex.filter_height,
               .in_groups = tile.in_grains,
               .out_groups = tile.out_grains,
               .conv_groups = tile.group_grains,
               .out_group_channels = vertex.out_grain});
}

std::uint64_t SlicCycles(const Target& target, const Product& product, const ProductVertex& vertex,
                         const TileProduct& tile) {
  return SlicVertexCycles(
      target, {.format = vertex.format,
               .rows = tile.rows,
               .row_width = tile.row_width,
               .stride = product.stride_width,
               .sub_kernels = tile.kernel_rows * CeilDivide(product.kernel_width, kSlicWindow),
               .group_channels = product.in_channels,
               .groups_per_group = vertex.group_grain,
               .conv_groups = tile.group_grains});
}

std::uint64_t VmacCycles(const Target& target, const Product& product, const ProductVertex& vertex,
                         const TileProduct& tile) {
  return VmacVertexCycles(target, {.half_partials = !vertex.format.has_float_partials(),
                                   .rows = tile.rows,
                                   .row_width = tile.row_width,
                                   .kernel_rows = tile.kernel_rows,
                                   .kernel_columns = product.kernel_width,
                                   .groups_per_group = vertex.group_grain,
                                   .conv_groups = tile.group_grains});
}

std::uint64_t HmacCycles(const Target& target, const Product& product, const ProductVertex& vertex,
                         const TileProduct& tile) {
  return HmacVertexCycles(target, {.format = vertex.format,
                                   .rows = tile.rows,
                                   .row_width = tile.row_width,
                                   .kernel_positions = tile.kernel_rows * product.kernel_width,
                                   .in_group_channels = vertex.in_grain,
                                   .out_group_channels = vertex.out_grain,
                                   .in_groups = tile.in_grains,
                                   .out_groups = tile.out_grains,
                                   .conv_groups = tile.group_grains});
}

std::uint64_t OuterProductCycles(const Target& target, const Product& product,
                                 const ProductVertex& vertex, const TileProduct& tile) {
  return tile.group_grains * OuterProductVertexCycles(target, {.format = product.input,
                                                               .rows = tile.rows * tile.row_width,
                                                               .channel_groups = tile.out_grains,
                                                               .group_channels = vertex.out_grain});
}

std::string_view FamilyName(ProductVertexKind kind) {
  switch (kind) {
    case ProductVertexKind::kAmp:
      return "poplin::ConvPartial1x1Out";
    case ProductVertexKind::kSpatialAmp:
      return "poplin::ConvPartialnx1";
    case ProductVertexKind::kSlic:
      return "poplin::ConvPartial1x4SLIC";
    case ProductVertexKind::kVmac:
      return "poplin::ConvPartialVerticalMac";
    case ProductVertexKind::kHmac:
      return "poplin::ConvPartialHorizontalMac";
    case ProductVertexKind::kOuterProduct:
      return "poplin::OuterProduct";
  }
  return "";
}

}  // namespace

std::string Codelet(const ProductVertex& vertex) {
  std::string name(FamilyName(vertex.kind));
  name += "<";
  name += FormatName(vertex.format.input);
  name += ",";
  name += FormatName(vertex.format.partials());
  if (vertex.is_amp()) name += "," + std::to_string(vertex.out_grain);
  return name + ">";
}

std::vector<ProductVertex> ProductVertices(const Target& target, const PlanOptions& options,
                                           const Product& product) {
  ProductFormat format{product.input, options.half_partials};
  if (ConvUnits(target, format) == 0) format.half_partials = !format.half_partials;
  std::vector<ProductVertex> vertices;
  AddAmp(target, product, format, vertices);
  AddSlic(product, format, vertices);
  AddVmac(product, format, vertices);
  AddHmac(product, format, vertices);
  AddOuterProduct(product, format, vertices);
  return vertices;
}

std::uint64_t ProductVertexCycles(const Target& target, const PlanOptions& options,
                                  const Product& product, const ProductVertex& vertex,
                                  const TileProduct& tile) {
  switch (vertex.kind) {
    case ProductVertexKind::kAmp:
      return AmpCycles(target, options, vertex, tile);
    case ProductVertexKind::kSpatialAmp:
      return SpatialAmpCycles(target, options, product, vertex, tile);
    case ProductVertexKind::kSlic:
      return SlicCycles(target, product, vertex, tile);
    case ProductVertexKind::kVmac:
      return VmacCycles(target, product, vertex, tile);
    case ProductVertexKind::kHmac:
      return HmacCycles(target, product, vertex, tile);
    case ProductVertexKind::kOuterProduct:
      return OuterProductCycles(target, product, vertex, tile);
  }
  return 0;
}

std::uint64_t ProductVertexBound(const Target& target, const Product& product,
                                 const ProductVertex& vertex, const TileProduct& tile) {
  if (!vertex.is_amp()) return 0;
  const std::uint64_t kernel =
      CeilDivide(tile.kernel_rows, vertex.filter_height) * product.kernel_width;
  const std::uint64_t macs = tile.group_grains * tile.rows * tile.row_width * tile.in_grains *
                             tile.out_grains * vertex.in_grain * vertex.filter_height *
                             vertex.out_grain * kernel;
  return macs / PeakMacsPerCycle(target, vertex.format);
}

}  // namespace poprt::ipu
