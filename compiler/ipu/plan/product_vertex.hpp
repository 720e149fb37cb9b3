#pragma once

#include <string>
#include <vector>

#include "compiler/ipu/cost/launch.hpp"
#include "compiler/ipu/plan/plan_options.hpp"
#include "compiler/ipu/plan/product.hpp"

/// The vertices that can compute a product, and what they cost a tile (sections 2.1 to 2.4).
namespace poprt::ipu {

enum class ProductVertexKind : std::uint8_t {
  kAmp,         ///< 1 x 1
  kSpatialAmp,  ///< n x 1
  kSlic,
  kVmac,
  kHmac,
  kOuterProduct,
};

/// A vertex and the grains in which it takes a product.
struct ProductVertex {
  ProductVertexKind kind = ProductVertexKind::kAmp;
  ProductFormat format = {};
  std::uint64_t in_grain = 16;      ///< input channels
  std::uint64_t out_grain = 16;     ///< output channels
  std::uint64_t group_grain = 1;    ///< convolution groups side by side
  std::uint64_t filter_height = 1;  ///< kernel rows at once

  /// It computes with the AMP units.
  bool is_amp() const {
    return kind == ProductVertexKind::kAmp || kind == ProductVertexKind::kSpatialAmp;
  }
  ComputeSetKind set_kind() const {
    return is_amp() ? ComputeSetKind::kAmp : ComputeSetKind::kOther;
  }
  /// Of the weights between one grain of input and one of output channels, as they are kept.
  std::uint64_t panel_bytes() const { return in_grain * out_grain * FormatBytes(format.input); }
};

/// The part of a product that one tile computes, in grains of the vertex.
struct TileProduct {
  std::uint64_t group_grains = 1;
  std::uint64_t rows = 1;  ///< output rows, of all images
  std::uint64_t row_width = 1;
  std::uint64_t in_grains = 1;
  std::uint64_t out_grains = 1;
  std::uint64_t kernel_rows = 1;  ///< not in grains
};

/// The codelet as poplin calls it: each pair of formats, and number of units, has its own.
std::string Codelet(const ProductVertex& vertex);

/// The vertices that can compute the product on that target.
std::vector<ProductVertex> ProductVertices(const Target& target, const PlanOptions& options,
                                           const Product& product);

/// Cycles of the vertex on a tile, without the launch.
std::uint64_t ProductVertexCycles(const Target& target, const PlanOptions& options,
                                  const Product& product, const ProductVertex& vertex,
                                  const TileProduct& tile);

/// No vertex of that kind takes less for the part: multiply-accumulates at the peak rate.
std::uint64_t ProductVertexBound(const Target& target, const Product& product,
                                 const ProductVertex& vertex, const TileProduct& tile);

}  // namespace poprt::ipu
