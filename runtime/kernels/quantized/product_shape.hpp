#pragma once

#include <cstdint>

namespace poprt::kernels {

/// Extents of `products` products of matrices of the same shape.
struct ProductShape {
  std::int64_t products = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};

}  // namespace poprt::kernels
