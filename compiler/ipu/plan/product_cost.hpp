#pragma once

#include <limits>
#include <optional>

#include "compiler/ipu/plan/product_planner.hpp"

namespace poprt::ipu {

/// What a way to divide a product costs; nothing when its temporaries exceed `memory_limit` bytes
/// or it is found to take `cycle_limit` cycles or more.
std::optional<ProductCost> PriceProduct(
    const Target& target, const PlanOptions& options, const ProductVariant& variant,
    const ProductVertex& vertex, const ProductSplits& splits,
    std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max(),
    std::uint64_t cycle_limit = std::numeric_limits<std::uint64_t>::max());

}  // namespace poprt::ipu
