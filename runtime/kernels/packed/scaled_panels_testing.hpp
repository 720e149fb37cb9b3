#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/packed/scaled_panels.hpp"

namespace poprt::kernels::testing {

/// What scaled panels of that depth stand for: float32 [panels, depth, 16].
inline Tensor Unscaled(const Tensor& scaled, std::int64_t depth) {
  const Shape& shape = scaled.shape();
  const std::int64_t panels = ElementCount(Shape(shape.begin(), shape.end() - 2));
  Tensor result({ElementType::kFloat32, {panels, depth, kPanel}});
  const auto words = scaled.as<std::int32_t>();
  const auto numbers = result.as_mutable<float>();
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t scales =
          panel * ScaledLines(depth) + k / kScaledBlock * ScaledLines(kScaledBlock);
      const std::int64_t line = scales + 1 + k % kScaledBlock / 2;
      for (std::int64_t c = 0; c < kPanel; ++c) {
        const std::int32_t word = words[static_cast<std::size_t>(line * kPanel + c)];
        const auto multiple = static_cast<std::int16_t>(k % 2 == 0 ? word & 0xFFFF : word >> 16);
        numbers[static_cast<std::size_t>((panel * depth + k) * kPanel + c)] =
            static_cast<float>(multiple) *
            std::bit_cast<float>(words[static_cast<std::size_t>(scales * kPanel + c)]);
      }
    }
  }
  return result;
}

}  // namespace poprt::kernels::testing
