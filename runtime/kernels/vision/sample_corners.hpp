#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {

/// The pixels around samples, and what each counts: two along every axis, hence 2^axes corners.
template <typename Weight>
struct SampleCorners {
  std::int64_t* offsets;  ///< [corner, pitch] in a plane, or kOutside
  Weight* shares;         ///< [corner, pitch]
  std::int64_t pitch;     ///< samples that there is room for

  static constexpr std::int64_t kOutside = -1;

  /// One corner without an axis.
  void Start(std::int64_t count) const {
    std::fill_n(offsets, count, std::int64_t{0});
    std::fill_n(shares, count, Weight(1));
  }

  /// Doubles the `known` corners by those along one more axis, at pixels and behind them; `parts`
  /// says how far behind a pixel its sample is.
  POPRT_INLINE void AddAxis(std::int64_t extent, std::int64_t stride, std::int64_t known,
                            std::int64_t count, const std::int64_t* pixels,
                            const Weight* parts) const {
    // From the back, because the corners found so far are overwritten.
    for (std::int64_t k = known; k-- > 0;) {
      const std::int64_t* const outer = offsets + k * pitch;
      const Weight* const share = shares + k * pitch;
      std::int64_t* const at = offsets + 2 * k * pitch;
      std::int64_t* const behind = at + pitch;
      Weight* const at_share = shares + 2 * k * pitch;
      Weight* const behind_share = at_share + pitch;
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t from = outer[i];
        const std::int64_t pixel = pixels[i];
        const bool at_inside = from >= 0 && pixel >= 0 && pixel < extent;
        const bool behind_inside = from >= 0 && pixel >= -1 && pixel + 1 < extent;
        const Weight all = share[i];
        behind[i] = behind_inside ? from + (pixel + 1) * stride : kOutside;
        at[i] = at_inside ? from + pixel * stride : kOutside;
        behind_share[i] = all * parts[i];
        at_share[i] = all * (Weight(1) - parts[i]);
      }
    }
  }
};

}  // namespace poprt::kernels
