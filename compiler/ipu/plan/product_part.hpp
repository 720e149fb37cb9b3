#pragma once

#include <cstdint>

#include "compiler/ipu/plan/product_planner.hpp"

namespace poprt::ipu {

/// What one tile has to do with of a product that is divided, in a serial step.
struct ProductPart {
  TileProduct tile = {};
  std::uint64_t images = 1;
  std::uint64_t height = 1;  ///< of the output field
  std::uint64_t width = 1;
  // Elements, channels that fill up grains among them.
  std::uint64_t inputs = 0;
  std::uint64_t weights = 0;
  std::uint64_t partials = 0;
};

/// Bytes a cycle at which a tile receives inputs: over a bus that two share, where they can.
std::uint64_t InputExchangeRate(const Target& target, const ProductSplits& splits);

ProductPart PartOf(const Product& product, const ProductVertex& vertex,
                   const ProductSplits& splits);

/// A product, one way to divide it and what a tile has of it: what a plan is judged by. Refers to
/// its arguments.
class DividedProduct {
 public:
  DividedProduct(const Target& target, const PlanOptions& options, const ProductVariant& variant,
                 const ProductVertex& vertex, const ProductSplits& splits)
      : target_(target),
        options_(options),
        variant_(variant),
        product_(variant.product),
        vertex_(vertex),
        splits_(splits),
        part_(PartOf(product_, vertex, splits)) {}

 protected:
  /// Partials of an output.
  std::uint64_t depth() const { return splits_.partials(); }

  const Target& target_;
  const PlanOptions& options_;
  const ProductVariant& variant_;
  const Product& product_;
  const ProductVertex& vertex_;
  const ProductSplits& splits_;
  const ProductPart part_;
};

}  // namespace poprt::ipu
