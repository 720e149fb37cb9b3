#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// Where the matrices of `matrix` elements of an operand with leading axes `batch` stand when these
/// are broadcast to `common`.
inline std::vector<std::int64_t> BatchOffsets(const Shape& batch, const Shape& common,
                                              std::int64_t matrix) {
  const Shape strides = Strides(batch);
  std::vector<std::int64_t> offsets{0};
  for (std::size_t i = 0; i < common.size(); ++i) {
    const std::size_t missing = common.size() - batch.size();
    const std::int64_t stride =
        i < missing || batch[i - missing] == 1 ? 0 : strides[i - missing] * matrix;
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t k = 0; k < common[i]; ++k) next.push_back(offset + k * stride);
    }
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace poprt::kernels
