#include "runtime/kernels/packed/short_floats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/thread_pool.hpp"

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
  Require(panels.element == ElementType::kFloat32 && panels.shape.size() >= 3 &&
              panels.shape.back() == kPanel,
          "panels of type " + ToString(panels) + " cannot be shortened");
  TensorType type{ElementType::kUint32, panels.shape};
  std::int64_t& rows = type.shape[type.shape.size() - 2];
  rows = ShortLines(rows);
  return type;
}

void ShortenPanel(const float* panel, std::int64_t depth, std::uint32_t* lines) {
  for (std::int64_t k = 0; k < depth; k += kShortRows, lines += kShortLines * kPanel) {
    PackGroup(panel + k * kPanel, depth - k, lines);
  }
}

Tensor ShortenPanels(const Tensor& panels) {
  Tensor result(ShortPanelsType(panels.type()));
  const Shape& shape = panels.shape();
  const std::int64_t depth = shape[shape.size() - 2];
  const std::int64_t count = ElementCount(Shape(shape.begin(), shape.end() - 2));
  const auto from = panels.as<float>();
  const auto to = result.as_mutable<std::uint32_t>();
  ProcessThreadPool().Run(count, [&](std::int64_t panel, int /*worker*/) {
    ShortenPanel(from.data() + panel * depth * kPanel, depth,
                 to.data() + panel * ShortLines(depth) * kPanel);
  });
  return result;
}

}  // namespace poprt::kernels
