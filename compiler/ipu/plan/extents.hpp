#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "runtime/tensor/shape.hpp"

/// Products of extents, and the ways to divide one.
namespace poprt::ipu {

/// Product of the extents of axes [from, to), at least 1.
inline std::uint64_t Volume(const Shape& shape, std::size_t from, std::size_t to) {
  std::uint64_t volume = 1;
  for (std::size_t i = from; i < std::min(to, shape.size()); ++i) {
    volume *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1));
  }
  return volume;
}

/// All numbers of parts up to `most` that make a difference to the largest part, ascending.
inline std::vector<std::uint64_t> Parts(std::uint64_t extent, std::uint64_t most) {
  std::vector<std::uint64_t> parts;
  for (std::uint64_t n = 1; n <= std::min(extent, most);) {
    parts.push_back(n);
    const std::uint64_t size = CeilDivide(extent, n);
    if (size == 1) break;
    n = CeilDivide(extent, size - 1);
  }
  return parts;
}

}  // namespace poprt::ipu
