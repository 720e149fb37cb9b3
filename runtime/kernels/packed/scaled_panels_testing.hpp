#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"

namespace poprt::kernels::testing {

/// Panels scaled, whatever their rows lose: of few columns, these have numbers near zero.
inline Tensor Scaled(const Tensor& panels) {
  const std::int64_t depth = panels.shape().at(panels.shape().size() - 2);
  Tensor scaled(ScaledPanelsType(panels.type()));
  RowLosses losses(1, depth);
  const float* from = panels.as<float>().data();
  const float* const end = from + panels.count();
  std::int32_t* to = scaled.as_mutable<std::int32_t>().data();
  for (; from < end; from += depth * kPanel, to += ScaledLines(depth) * kPanel) {
    if (!ScalePanel(from, depth, to, losses.Of(0))) throw KernelError("columns lose too much");
  }
  return scaled;
}

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
