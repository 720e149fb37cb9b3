#pragma once

#include <cstdint>

namespace poprt::kernels {

/// How many pieces of `size` >= 1 cover `count`; zero for what is not positive.
constexpr std::int64_t CeilDiv(std::int64_t count, std::int64_t size) {
  return count <= 0 ? 0 : (count - 1) / size + 1;
}

}  // namespace poprt::kernels
