#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

enum class GridPadding { kZeros, kBorder, kReflection };

/// How GridSample places one axis of the grid on the image. Arithmetic happens in the type of the
/// coordinates (float for the half types), so that what lies on a border stays there.
template <typename Coordinate>
class GridAxis {
 public:
  GridAxis(std::int64_t extent, GridPadding padding, bool align_corners)
      : extent_(extent), padding_(padding), align_corners_(align_corners) {
    low_ = align_corners ? Coordinate(0) : Coordinate(-0.5);
    high_ = static_cast<Coordinate>(extent) - (align_corners ? Coordinate(1) : Coordinate(0.5));
  }

  /// The pixel coordinate of normalised coordinate `n`, before padding.
  Coordinate Denormalize(Coordinate n) const {
    const auto extent = static_cast<Coordinate>(extent_);
    if (align_corners_) return (n + Coordinate(1)) / Coordinate(2) * (extent - Coordinate(1));
    return ((n + Coordinate(1)) * extent - Coordinate(1)) / Coordinate(2);
  }

  /// Pads a pixel coordinate. The result is finite and close enough to the image to be an integer;
  /// what lies outside under zero padding, NaN included, stays where no tap reaches the image.
  /// Under border padding x itself moves to the border, but for `cubic` interpolation: there some
  /// taps of a point outside are inside.
  Coordinate Place(Coordinate x, bool cubic) const {
    constexpr Coordinate kFar = 8;
    const auto extent = static_cast<Coordinate>(extent_);
    if (padding_ == GridPadding::kZeros || (padding_ == GridPadding::kBorder && cubic)) {
      return x > -kFar ? std::min(x, extent + kFar) : -kFar;
    }
    if (!(x >= low_ && x <= high_)) {
      if (std::isnan(x)) return 0;
      if (padding_ == GridPadding::kReflection) return Reflect(x);
      return std::clamp(x, Coordinate(0), extent - Coordinate(1));
    }
    return x;
  }

  /// The pixel that tap `at` reads, -1 for none.
  std::int64_t Pixel(std::int64_t at) const {
    if (at >= 0 && at < extent_) return at;
    if (padding_ == GridPadding::kZeros) return -1;
    if (padding_ == GridPadding::kReflection) {
      at = static_cast<std::int64_t>(Reflect(static_cast<Coordinate>(at)));
    }
    return at < 0 ? 0 : (at >= extent_ ? extent_ - 1 : at);
  }

 private:
  /// Mirrors x at both borders until it lies between them.
  Coordinate Reflect(Coordinate x) const {
    const Coordinate range = high_ - low_;
    if (!(range > 0) || std::isinf(x)) return 0;
    const Coordinate beyond = std::fmod(std::fabs(x - low_), 2 * range);
    return beyond <= range ? low_ + beyond : high_ - (beyond - range);
  }

  std::int64_t extent_;
  GridPadding padding_;
  bool align_corners_;
  Coordinate low_;
  Coordinate high_;
};

/// Weights of the taps at floor(x) - 1 to floor(x) + 2 for the fraction t of x.
template <typename Coordinate>
std::array<Coordinate, 4> CubicWeights(Coordinate t) {
  constexpr Coordinate a = Coordinate(-0.75);
  const auto near = [](Coordinate x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](Coordinate x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

}  // namespace poprt::kernels
