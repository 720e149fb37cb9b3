#pragma once

#include "compiler/ipu/plan/product_planner.hpp"

namespace poprt::ipu {

/// What a way to divide a product costs.
ProductCost PriceProduct(const Target& target, const PlanOptions& options,
                         const ProductVariant& variant, const ProductVertex& vertex,
                         const ProductSplits& splits);

}  // namespace poprt::ipu
