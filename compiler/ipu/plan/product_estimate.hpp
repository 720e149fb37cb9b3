#pragma once

#include <limits>
#include <optional>

#include "compiler/ipu/plan/product_planner.hpp"

namespace poprt::ipu {

/// What poplin expects a way to divide a product to take (section 2.6); nothing when its
/// temporaries exceed `memory_limit` bytes or it is found to take `cycle_limit` cycles or more.
/// Launches and the overhead of exchange phases are no part of it: a product is priced once its
/// plan is chosen.
std::optional<ProductEstimate> EstimateProduct(
    const Target& target, const PlanOptions& options, const ProductVariant& variant,
    const ProductVertex& vertex, const ProductSplits& splits,
    std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max(),
    std::uint64_t cycle_limit = std::numeric_limits<std::uint64_t>::max());

}  // namespace poprt::ipu
