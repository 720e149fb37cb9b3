#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace poprt::bench {

/// Throws std::runtime_error unless --index selects one of `graphs`.
inline void CheckIndex(std::size_t index, std::size_t graphs) {
  if (index < graphs) return;
  throw std::runtime_error("--index is " + std::to_string(index) + ", allowed are 0 to " +
                           std::to_string(graphs - 1));
}

}  // namespace poprt::bench
