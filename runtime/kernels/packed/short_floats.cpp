#include "runtime/kernels/packed/short_floats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/kernels/packed/float_panels.hpp"

namespace poprt::kernels {
namespace {

constexpr std::uint32_t kLostBits = 0xFF;
constexpr std::uint32_t kUpperHalf = 0xFFFF0000;

/// The number with the nearest upper 24 bits, to even where two are as near.
std::uint32_t Shorten(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t odd = bits >> 8 & 1;
  return (bits + kLostBits / 2 + odd) & ~kLostBits;
}

/// Four rows, of which those behind `rows` are zeros, to three lines.
void PackGroup(const float* from, std::int64_t rows, std::uint32_t* to) {
  for (std::int64_t c = 0; c < kPanel; ++c) {
    const auto number = [&](std::int64_t row) {
      return row < rows ? Shorten(from[row * kPanel + c]) : 0;
    };
    for (std::int64_t row = 0; row < 2; ++row) {
      to[row * kPanel + c] = number(row) | (number(row + 2) >> 8 & kLostBits);
    }
    to[2 * kPanel + c] = (number(2) & kUpperHalf) | number(3) >> 16;
  }
}

}  // namespace

bool CanBeShort(const Tensor& weights) {
  if (weights.element() != ElementType::kFloat32) return false;
  return std::ranges::all_of(weights.as<float>(),
                             [](float number) { return std::abs(number) < 0x1p127F; });
}

TensorType ShortPanelsType(const TensorType& panels) {
  return LinesType(panels, ElementType::kUint32, ShortLines, "shortened");
}

Tensor ShortenPanels(const Tensor& panels) {
  Tensor result(ShortPanelsType(panels.type()));
  const auto to = result.as_mutable<std::uint32_t>();
  EachPanel(panels, [&](std::int64_t index, const float* panel, std::int64_t depth) {
    std::uint32_t* lines = to.data() + index * ShortLines(depth) * kPanel;
    for (std::int64_t k = 0; k < depth; k += kShortRows, lines += kShortLines * kPanel) {
      PackGroup(panel + k * kPanel, depth - k, lines);
    }
  });
  return result;
}

}  // namespace poprt::kernels
