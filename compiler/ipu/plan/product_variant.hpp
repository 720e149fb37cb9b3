#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ipu/plan/product.hpp"
#include "compiler/ipu/target/target.hpp"

namespace poprt::ipu {

/// Another product with the same result, and what it takes to get there (section 2.6: swapping
/// operands, flattening, expanding dimensions, combining groups).
struct ProductVariant {
  Product product = {};
  bool swapped = false;               ///< the operands change places: the result is transposed
  bool expanded = false;              ///< kernel positions became input channels
  bool flattened_out = false;         ///< positions of the field became output channels
  std::uint64_t combined_groups = 1;  ///< groups that became one, with zeros between them

  /// Elements of the activations in the order of the variant, repeated where windows overlap; 0
  /// when they stay as they are.
  std::uint64_t ExpandedElements() const;
};

/// The product itself, flattened where its kernel is one position, and what poplin tries beside it.
std::vector<ProductVariant> ProductVariants(const Target& target, const Product& product);

}  // namespace poprt::ipu
