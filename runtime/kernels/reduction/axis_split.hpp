#pragma once

#include <cstdint>

#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// A tensor seen as [outer, length, inner] with one axis in the middle. Products of the three do
/// not overflow when the element count of the tensor, zero extents left out, does not.
struct AxisSplit {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// `axis` < shape.size().
inline AxisSplit SplitAt(const Shape& shape, std::size_t axis) {
  AxisSplit split{.outer = 1, .length = shape[axis], .inner = 1};
  for (std::size_t d = 0; d < axis; ++d) split.outer *= shape[d];
  for (std::size_t d = axis + 1; d < shape.size(); ++d) split.inner *= shape[d];
  return split;
}

}  // namespace poprt::kernels
