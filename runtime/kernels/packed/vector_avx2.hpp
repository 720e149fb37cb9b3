#pragma once

#include <cstdint>

#include "runtime/kernels/packed/vector_highway.hpp"

namespace poprt::kernels {
namespace {  // NOLINT: on purpose, see vector_highway.hpp

/// The vector type V of vector_type.hpp for processors with AVX2, FMA, F16C and BMI.
struct Avx2 : HighwayVector<8> {
  static constexpr int kPanels = 1;
  static constexpr int kRows = 6;
  using Eight = Avx2;

  template <int kUses>
  static Register Repeat(const float* p) {
    return Set(*p);
  }
  // In parts, because stores with a mask are slow on some processors.
  static void StoreFirst(Register x, float* p, std::int64_t count) {
    StoreParts(hn::Half<Floats>(), Vector{x}, p, count);
  }
  static void Transpose(Register (&x)[8]) {
    const hn::FixedTag<double, 4> pairs_of;
    hn::Vec<decltype(pairs_of)> pairs[8];
    for (int i = 0; i < 8; i += 2) {
      pairs[i] =
          hn::BitCast(pairs_of, hn::InterleaveLower(Floats(), Vector{x[i]}, Vector{x[i + 1]}));
      pairs[i + 1] =
          hn::BitCast(pairs_of, hn::InterleaveUpper(Floats(), Vector{x[i]}, Vector{x[i + 1]}));
    }
    Vector quads[8];
    for (int i = 0; i < 8; i += 4) {
      for (int k = 0; k < 2; ++k) {
        const auto a = pairs[i + k];
        const auto b = pairs[i + k + 2];
        quads[i + 2 * k] = hn::BitCast(Floats(), hn::InterleaveLower(pairs_of, a, b));
        quads[i + 2 * k + 1] = hn::BitCast(Floats(), hn::InterleaveUpper(pairs_of, a, b));
      }
    }
    for (int i = 0; i < 4; ++i) {
      x[i] = hn::ConcatLowerLower(Floats(), quads[i + 4], quads[i]).raw;
      x[i + 4] = hn::ConcatUpperUpper(Floats(), quads[i + 4], quads[i]).raw;
    }
  }

 private:
  /// A half of x if `count` has as many lanes, then as much as remains of the other.
  template <class Part>
  static void StoreParts(Part part, hn::Vec<hn::Twice<Part>> x, float* p, std::int64_t count) {
    constexpr std::int64_t kSize = hn::MaxLanes(Part());
    auto lanes = hn::LowerHalf(part, x);
    if ((count & kSize) != 0) {
      hn::StoreU(lanes, part, p);
      lanes = hn::UpperHalf(part, x);
      p += kSize;
    }
    if constexpr (kSize > 1) StoreParts(hn::Half<Part>(), lanes, p, count);
  }
};

}  // namespace
}  // namespace poprt::kernels
