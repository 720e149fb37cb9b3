#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::kernels {

/// How the panels of a packed matrix are stored and how tiles read them: float32 and float16 as
/// they are, scaled ones (int32) once they are widened. `weights` is the first panel everywhere.
struct StoredPanels {
  ElementType element;
  std::int64_t depth;
  std::int64_t step = 1;  ///< panels from one to the next of those that are read together

  bool AreScaled() const { return element == ElementType::kInt32; }

  /// What a matrix unit finds in them.
  PanelNumbers Numbers() const {
    switch (element) {
      case ElementType::kFloat16:
        return PanelNumbers::kHalf;
      case ElementType::kInt32:
        return PanelNumbers::kScaled;
      default:
        return PanelNumbers::kFloat;
    }
  }

  /// Lines of 16 elements before row k of a panel, the first of a block or the depth.
  std::int64_t Lines(std::int64_t k) const { return AreScaled() ? ScaledLines(k) : k; }

  /// Elements from one panel to the next.
  std::int64_t Stride() const { return Lines(depth) * kPanel; }

  /// Row k of a panel, as for Lines.
  const std::byte* At(const std::byte* weights, std::int64_t panel, std::int64_t k) const {
    return weights +
           (panel * Stride() + Lines(k) * kPanel) * static_cast<std::int64_t>(ElementSize(element));
  }

  /// Rows [k, k + n) of a scaled panel, to whole lines of rows.
  void Widen(const GemmMicroKernels& kernels, const std::byte* weights, std::int64_t panel,
             std::int64_t k, std::int64_t n, float* to) const {
    kernels.widen_scaled(reinterpret_cast<const std::int32_t*>(At(weights, panel, k)), n, to);
  }

  /// Floats from one widened panel to the next, where parts of the depth have `part` rows. Of
  /// panels that follow each other as many as in memory, if they are at least a part and at most
  /// eight, so that what is fetched for the next ones is of all of them.
  std::int64_t WidenedStride(std::int64_t part) const {
    const std::int64_t floats = CeilDiv(part, kScaledRows) * kScaledRows * kPanel;
    return step > 1 ? floats : std::clamp(Stride(), floats, 8 * floats);
  }

  /// Floats that View needs for up to `count` panels of up to `part` rows.
  std::int64_t WidenedFloats(std::int64_t count, std::int64_t part) const {
    return AreScaled() ? count * WidenedStride(part) : 0;
  }

  /// Rows [k, k + n) of `count` panels, in `widened` if they are.
  PanelsView View(const GemmMicroKernels& kernels, const std::byte* weights, std::int64_t panel,
                  int count, std::int64_t k, std::int64_t n, float* widened) const {
    const std::byte* const next = At(weights, panel + count * step, k);
    if (!AreScaled()) return {At(weights, panel, k), step * Stride(), element, next};
    const std::int64_t stride = WidenedStride(n);
    for (int i = 0; i < count; ++i) {
      Widen(kernels, weights, panel + i * step, k, n, widened + i * stride);
    }
    return {widened, stride, ElementType::kFloat32, next};
  }
};

}  // namespace poprt::kernels
