#include "runtime/kernels/quantized/pack_integers.hpp"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack_elements.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/quantized/integer_rows.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kScaleBytes = kPanel * static_cast<std::int64_t>(sizeof(float));
/// Sizes of blocks that weights are quantised in, besides whole columns.
constexpr std::int64_t kBlocks[] = {256, 128, 64, 32, 16};
/// What is longest for numbers of four bits and of eight, which most scales are chosen by, first.
constexpr int kLikely[] = {7, 8, 127, 128};

/// A matrix or its transpose, by column.
struct Matrix {
  Matrix(const Tensor& w, bool transposed)
      : depth(w.shape()[transposed ? 1 : 0]),
        columns(w.shape()[transposed ? 0 : 1]),
        data(reinterpret_cast<const float*>(w.data())),
        row_stride(transposed ? 1 : columns),
        column_stride(transposed ? depth : 1) {}

  float at(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }

  std::int64_t depth;
  std::int64_t columns;
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Of multiples; bit i: some are i or -i.
using Magnitudes = std::bitset<129>;
/// Numbers that were quantised have more. Others, which select, count or average, say, are left as
/// they are: their products are expected to be exact.
constexpr std::size_t kFewestMagnitudes = 6;

/// The scale of a part of a column, and whether its multiples are from -8 to 7.
struct Scale {
  float scale = 1;
  bool has_four_bits = true;
  Magnitudes magnitudes = 1;
};

std::optional<Scale> ScaleOf(const Matrix& w, std::int64_t column, std::int64_t first,
                             std::int64_t count) {
  const float* const from = w.data + first * w.row_stride + column * w.column_stride;
  float largest = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const float value = from[k * w.row_stride];
    if (!std::isfinite(value)) return {};
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) return Scale{};
  const auto with_scale = [&](float scale) -> std::optional<Scale> {
    Scale found{.scale = scale, .magnitudes = 0};
    for (std::int64_t k = 0; k < count; ++k) {
      const float value = from[k * w.row_stride];
      const float multiple = std::nearbyint(value / scale);
      if (!(multiple >= -128 && multiple <= 127) || multiple * scale != value) return {};
      found.has_four_bits = found.has_four_bits && multiple >= -8 && multiple <= 7;
      found.magnitudes.set(static_cast<std::size_t>(std::abs(multiple)));
    }
    return found;
  };
  // The largest magnitude is some multiple of the scale, which division finds but for a rounding.
  const auto with_multiple = [&](int multiple) -> std::optional<Scale> {
    const float scale = largest / static_cast<float>(multiple);
    for (const float near : {scale, std::nextafter(scale, largest), std::nextafter(scale, 0.0F)}) {
      if (!(near > 0)) continue;
      if (const auto found = with_scale(near)) return found;
    }
    return {};
  };
  for (const int multiple : kLikely) {
    const auto found = with_multiple(multiple);
    if (found && (found->has_four_bits || multiple > 8)) return found;
  }
  for (int multiple = 1; multiple < 127; ++multiple) {
    if (const auto found = with_multiple(multiple)) return found;
  }
  return {};
}

std::optional<IntegerForm> FormOfBlock(const Matrix& w, std::int64_t block) {
  std::atomic<bool> has_form = true;
  std::atomic<bool> has_four_bits = true;
  std::mutex mutex;
  Magnitudes magnitudes;
  PackColumns(w.columns, [&](std::int64_t column) {
    Magnitudes of_column;
    for (std::int64_t first = 0; first < w.depth && has_form; first += block) {
      const auto scale = ScaleOf(w, column, first, block);
      if (!scale) {
        has_form = false;
        return;
      }
      if (!scale->has_four_bits) has_four_bits = false;
      of_column |= scale->magnitudes;
    }
    const std::scoped_lock lock(mutex);
    magnitudes |= of_column;
  });
  if (!has_form || magnitudes.count() < kFewestMagnitudes) return {};
  return IntegerForm{.bits = has_four_bits ? 4 : 8, .block = block};
}

/// Puts a number into a group of zeros.
void PutInteger(std::int32_t integer, std::int64_t row, std::int64_t column, std::int64_t bits,
                std::byte* group) {
  const auto stored =
      static_cast<std::uint32_t>(integer + (bits == 4 ? kExcessOf4Bits : kExcessOf8Bits));
  const std::int64_t bit = bits * row;
  group[4 * column + bit / 8] |= static_cast<std::byte>(stored << bit % 8);
}

/// The 16 columns of one panel of zeros. False if they do not have that form.
bool PackPanel(const Matrix& w, std::int64_t panel, const IntegerForm& form, std::byte* to) {
  const std::int64_t rows = RowsOfGroup(form.bits);
  const std::int64_t columns = std::min(kPanel, w.columns - panel * kPanel);
  for (std::int64_t first = 0; first < w.depth; first += form.block) {
    std::byte* const groups = to + kScaleBytes;
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t column = panel * kPanel + c;
      const auto scale = ScaleOf(w, column, first, form.block);
      if (!scale || (form.bits == 4 && !scale->has_four_bits)) return false;
      std::memcpy(to + c * static_cast<std::int64_t>(sizeof(float)), &scale->scale, sizeof(float));
      for (std::int64_t k = 0; k < form.block; ++k) {
        const float multiple = std::nearbyint(w.at(first + k, column) / scale->scale);
        PutInteger(static_cast<std::int32_t>(multiple), k % rows, c, form.bits,
                   groups + k / rows * kScaleBytes);
      }
    }
    to = groups + (form.block + rows - 1) / rows * kScaleBytes;
  }
  return true;
}

void RequireFloats(const Tensor& w) {
  RequireWeights(w, 2);
  Require(w.element() == ElementType::kFloat32,
          "weights are " + ToString(w.type()) + ", only float32 is stored as integers");
}

}  // namespace

std::optional<std::vector<float>> ByteScales(const Tensor& weights, bool transposed) {
  RequireWeights(weights, 2);
  if (weights.element() != ElementType::kFloat32) return {};
  const Matrix w(weights, transposed);
  std::vector<float> scales;
  for (std::int64_t column = 0; column < w.columns; ++column) {
    const auto scale = ScaleOf(w, column, 0, w.depth);
    if (!scale) return {};
    scales.push_back(scale->scale);
  }
  return scales;
}

std::optional<IntegerForm> IntegerFormOf(const Tensor& weights, bool transposed) {
  RequireWeights(weights, 2);
  if (weights.element() != ElementType::kFloat32) return {};
  const Matrix w(weights, transposed);
  if (const auto form = FormOfBlock(w, w.depth)) return form;
  for (const std::int64_t block : kBlocks) {
    if (block >= w.depth || w.depth % block != 0) continue;
    if (const auto form = FormOfBlock(w, block)) return form;
  }
  return {};
}

TensorType PackedIntegersType(std::int64_t depth, std::int64_t n, const IntegerForm& form) {
  Require(depth >= 1 && n >= 1, "a packed matrix needs at least one row and one column");
  Require(form.bits == 4 || form.bits == 8,
          "numbers have " + std::to_string(form.bits) + " bits, allowed are 4 and 8");
  constexpr std::int64_t kMostRows = 8;  // of a group
  Require(form.block == depth ||
              (form.block >= 1 && form.block % kMostRows == 0 && depth % form.block == 0),
          "blocks have " + std::to_string(form.block) + " rows, which do not fit a depth of " +
              std::to_string(depth));
  const std::int64_t groups = (form.block - 1) / RowsOfGroup(form.bits) + 1;
  const std::int64_t lines = depth / form.block * (1 + groups);  // of 64 bytes
  return {ElementType::kUint8, {(n - 1) / kPanel + 1, lines * (kScaleBytes / kPanel), kPanel}};
}

Tensor PackIntegers(const Tensor& weights, bool transposed, const IntegerForm& form) {
  RequireFloats(weights);
  const Matrix w(weights, transposed);
  Tensor packed(PackedIntegersType(w.depth, w.columns, form));
  const std::size_t panel_bytes = packed.bytes() / static_cast<std::size_t>(packed.shape()[0]);
  std::byte* const to = packed.mutable_data();
  std::fill_n(to, packed.bytes(), std::byte{0});
  std::atomic<bool> has_form = true;
  PackPanels(w.columns, [&](std::int64_t panel) {
    if (!PackPanel(w, panel, form, to + static_cast<std::size_t>(panel) * panel_bytes)) {
      has_form = false;
    }
  });
  Require(has_form, "weights are no multiples by " + std::to_string(form.bits) +
                        " bits of a scale for each " + std::to_string(form.block) +
                        " rows of a column");
  return packed;
}

}  // namespace poprt::kernels
