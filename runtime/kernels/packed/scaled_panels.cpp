#include "runtime/kernels/packed/scaled_panels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>

#include "runtime/kernels/packed/float_panels.hpp"

namespace poprt::kernels {
namespace {

constexpr float kMostMultiple = 0x7FFF;
/// Exponent of the largest power of two among multiples.
constexpr int kMostExponent = 14;
constexpr double kMostLost = 0x1p-28;        // of squares of a column
constexpr double kMostLostOfRows = 0x1p-26;  // of squares of a row, in the mean
constexpr double kLeastOfRow = 0x1p-100;     // of squares of one that counts
/// Of a column's block whose largest magnitude is less all numbers become zeros, and the sum of
/// squares of one is not more: neither scales nor the sums of integers leave the range of float32.
constexpr float kLeastLargest = 0x1p-60F;
constexpr double kMostSquares = 0x1p120;

/// A number for each column of a panel.
template <typename T>
using Columns = std::array<T, kPanel>;

/// The nearest whole number, to even where two are as near, of at most 2^15.
float Nearest(float x) {
  constexpr float kShift = 0x1.8p23F;
  return (x + kShift) - kShift;
}

/// What the numbers of a column are multiples of.
struct Scale {
  float scale = 0;
  float inverse = 0;

  float MultipleOf(float x) const { return Nearest(x * inverse); }
};

/// Rows of a panel that share scales.
struct Block {
  const float* numbers;
  std::int64_t rows;

  /// Calls f(c, number) for all of them.
  template <class F>
  void Each(F f) const {
    for (std::int64_t k = 0; k < rows; ++k) {
      for (std::size_t c = 0; c < kPanel; ++c) f(c, numbers[k * kPanel + std::int64_t(c)]);
    }
  }

  Columns<double> Squares() const {
    Columns<double> sums = {};
    Each([&](std::size_t c, float x) { sums[c] += double{x} * x; });
    return sums;
  }

  Columns<float> Largest() const {
    Columns<float> largest = {};
    Each([&](std::size_t c, float x) { largest[c] = std::max(largest[c], std::abs(x)); });
    return largest;
  }

  /// The square of what rounding to multiples takes.
  static double LostOf(float x, const Scale& scale) {
    const double rest = x - scale.MultipleOf(x) * scale.scale;
    return rest * rest;
  }

  Columns<double> Lost(const Columns<Scale>& scales) const {
    Columns<double> lost = {};
    Each([&](std::size_t c, float x) { lost[c] += LostOf(x, scales[c]); });
    return lost;
  }

  void LostOfRows(const Columns<Scale>& scales, RowLosses::Loss* losses) const {
    for (std::int64_t k = 0; k < rows; ++k) {
      double all = 0;
      double lost = 0;
      for (std::size_t c = 0; c < kPanel; ++c) {
        const float x = numbers[k * kPanel + std::int64_t(c)];
        all += double{x} * x;
        lost += LostOf(x, scales[c]);
      }
      losses[k] = {static_cast<float>(all), static_cast<float>(lost)};
    }
  }

  /// Powers of two where these lose nothing, else of which the largest number is a multiple by
  /// kMostMultiple.
  Columns<Scale> Scales() const {
    const Columns<float> largest = Largest();
    Columns<Scale> scales = {};
    for (std::size_t c = 0; c < kPanel; ++c) {
      if (largest[c] < kLeastLargest) continue;
      const int exponent = std::ilogb(largest[c]) - kMostExponent;
      scales[c] = {std::ldexp(1.0F, exponent), std::ldexp(1.0F, -exponent)};
    }
    const Columns<double> lost = Lost(scales);
    for (std::size_t c = 0; c < kPanel; ++c) {
      if (lost[c] == 0 || largest[c] < kLeastLargest) continue;
      scales[c] = {largest[c] / kMostMultiple, kMostMultiple / largest[c]};
    }
    return scales;
  }

  void Write(const Columns<Scale>& scales, std::int32_t* lines) const {
    for (std::size_t c = 0; c < kPanel; ++c)
      lines[c] = std::bit_cast<std::int32_t>(scales[c].scale);
    std::fill_n(lines + kPanel, CeilDiv(rows, kScaledRows) * kPanel, 0);
    for (std::int64_t k = 0; k < rows; ++k) {
      std::int32_t* const line = lines + (1 + k / kScaledRows) * kPanel;
      for (std::size_t c = 0; c < kPanel; ++c) {
        const auto multiple = static_cast<std::int32_t>(
            scales[c].MultipleOf(numbers[k * kPanel + static_cast<std::int64_t>(c)]));
        line[c] |= k % kScaledRows == 0 ? multiple & 0xFFFF : multiple * 0x10000;
      }
    }
  }
};

}  // namespace

TensorType ScaledPanelsType(const TensorType& panels) {
  return LinesType(panels, ElementType::kInt32, ScaledLines, "scaled");
}

RowLosses::RowLosses(std::int64_t panels, std::int64_t depth)
    : depth_(depth), losses_(static_cast<std::size_t>(panels * depth)) {}

bool RowLosses::AreSmall() const {
  double sum = 0;
  std::int64_t rows = 0;
  const auto count = static_cast<std::int64_t>(losses_.size());
  for (std::int64_t row = 0; row < depth_; ++row) {
    double all = 0;
    double lost = 0;
    for (std::int64_t i = row; i < count; i += depth_) {
      all += losses_[static_cast<std::size_t>(i)].all;
      lost += losses_[static_cast<std::size_t>(i)].lost;
    }
    if (all <= kLeastOfRow) continue;
    sum += lost / all;
    ++rows;
  }
  return sum <= kMostLostOfRows * static_cast<double>(rows);
}

bool ScalePanel(const float* panel, std::int64_t depth, std::int32_t* lines,
                RowLosses::Loss* losses) {
  Columns<double> all = {};
  Columns<double> lost = {};
  for (std::int64_t k = 0; k < depth; k += kScaledBlock) {
    const Block block{panel + k * kPanel, std::min(kScaledBlock, depth - k)};
    const Columns<double> squares = block.Squares();
    // A comparison with what is no number is false.
    if (!std::ranges::all_of(squares, [](double sum) { return sum <= kMostSquares; })) return false;
    const Columns<Scale> scales = block.Scales();
    block.Write(scales, lines + ScaledLines(k) * kPanel);
    block.LostOfRows(scales, losses + k);
    const Columns<double> of_block = block.Lost(scales);
    for (std::size_t c = 0; c < kPanel; ++c) {
      all[c] += squares[c];
      lost[c] += of_block[c];
    }
  }
  for (std::size_t c = 0; c < kPanel; ++c) {
    if (lost[c] > kMostLost * all[c]) return false;
  }
  return true;
}

std::optional<Tensor> ScalePanels(const Tensor& panels) {
  Tensor result(ScaledPanelsType(panels.type()));
  const auto to = result.as_mutable<std::int32_t>();
  const Shape& shape = panels.shape();
  const std::int64_t of_matrix = shape[shape.size() - 3];
  const Shape matrices(shape.begin(), shape.end() - 3);
  std::vector<RowLosses> losses(static_cast<std::size_t>(ElementCount(matrices)),
                                RowLosses(of_matrix, shape[shape.size() - 2]));
  std::atomic<bool> are_scaled = true;
  EachPanel(panels, [&](std::int64_t index, const float* panel, std::int64_t depth) {
    std::int32_t* const lines = to.data() + index * ScaledLines(depth) * kPanel;
    RowLosses& of_rows = losses[static_cast<std::size_t>(index / of_matrix)];
    if (!ScalePanel(panel, depth, lines, of_rows.Of(index % of_matrix))) are_scaled = false;
  });
  if (!are_scaled || !std::ranges::all_of(losses, &RowLosses::AreSmall)) return {};
  return result;
}

}  // namespace poprt::kernels
