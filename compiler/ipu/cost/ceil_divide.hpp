#pragma once

#include <cstdint>

namespace poprt::ipu {

/// a / b rounded up; `b` is not 0. The reference of the model writes it cd(a, b).
constexpr std::uint64_t CeilDivide(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b == 0 ? 0 : 1);
}

}  // namespace poprt::ipu
