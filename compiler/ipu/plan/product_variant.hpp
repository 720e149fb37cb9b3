#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ipu/plan/product.hpp"

namespace poprt::ipu {

/// Another product with the same result, and what it takes to get there (section 2.6: swapping
/// operands, flattening, expanding dimensions, combining groups).
struct ProductVariant {
  Product product = {};
  bool swapped = false;  ///< the operands change places: the result is transposed
  /// Elements of the input after kernel positions became channels; 0 when it stays as it is.
  std::uint64_t expanded_elements = 0;
  std::uint64_t combined_groups = 1;  ///< groups that became one, with zeros between them
};

/// The product itself, flattened where its kernel is one position, and what else might be faster
/// with input channels in groups of `in_group`.
std::vector<ProductVariant> ProductVariants(const Product& product, std::uint64_t in_group);

}  // namespace poprt::ipu
