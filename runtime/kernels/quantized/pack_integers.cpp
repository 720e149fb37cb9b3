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
#include "runtime/kernels/quantized/wide_weights.hpp"

namespace poprt::kernels {
namespace {

/// Sizes of blocks that weights are quantised in, besides whole columns.
constexpr std::int64_t kBlocks[] = {256, 128, 64, 32, 16};
/// The largest multiple of four bits, or else of eight: what most scales are chosen by first.
constexpr int kLikely[] = {7, 8, 1, 2, 3, 4, 5, 6, 127, 128};

/// Of multiples; bit i: some are i or -i.
using Magnitudes = std::bitset<129>;

/// The scale of a part of a column, and whether its multiples are from -8 to 7.
struct Scale {
  float scale = 1;
  bool has_four_bits = true;
  Magnitudes magnitudes = 1;
};

std::optional<Scale> ScaleOf(const WeightMatrix& w, std::int64_t column, std::int64_t first,
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
  for (int multiple = 9; multiple < 127; ++multiple) {
    if (const auto found = with_multiple(multiple)) return found;
  }
  return {};
}

std::optional<IntegerForm> FormOfBlock(const WeightMatrix& w, std::int64_t block) {
  std::atomic<bool> has_form = true;
  std::atomic<bool> has_four_bits = true;
  std::mutex mutex;
  Magnitudes magnitudes;
  PackColumns(w.columns, [&](std::int64_t column) {
    Magnitudes of_column;
    for (std::int64_t first = 0; first < w.depth && has_form; first += block) {
      const auto scale = ScaleOf(w, column, first, std::min(block, w.depth - first));
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

/// The scale of a part of a column, if it has that form.
std::optional<float> ScaleOf(const WeightMatrix& w, std::int64_t column, std::int64_t first,
                             std::int64_t count, std::int64_t bits) {
  if (bits == kWideBits) return WideScaleOf(w, column, first, count);
  const auto scale = ScaleOf(w, column, first, count);
  if (!scale || (bits == 4 && !scale->has_four_bits)) return {};
  return scale->scale;
}

std::int32_t ExcessOf(std::int64_t bits) {
  if (bits == kWideBits) return 0;
  return bits == 4 ? kExcessOf4Bits : kExcessOf8Bits;
}

/// Puts a number into a group of zeros.
void PutInteger(std::int32_t integer, std::int64_t row, std::int64_t column, std::int64_t bits,
                std::byte* group) {
  const std::uint32_t stored =
      static_cast<std::uint32_t>(integer + ExcessOf(bits)) & ((std::uint32_t{1} << bits) - 1);
  std::byte* const at = group + column * static_cast<std::int64_t>(sizeof(std::uint32_t));
  std::uint32_t word;
  std::memcpy(&word, at, sizeof(word));
  word |= stored << (bits * row);
  std::memcpy(at, &word, sizeof(word));
}

/// The 16 columns of one panel of zeros. False if they do not have that form.
bool PackPanel(const WeightMatrix& w, std::int64_t panel, const IntegerForm& form, std::byte* to) {
  const std::int64_t rows = RowsOfGroup(form.bits);
  const std::int64_t columns = std::min(kPanel, w.columns - panel * kPanel);
  for (std::int64_t first = 0; first < w.depth; first += form.block) {
    const std::int64_t count = std::min(form.block, w.depth - first);
    std::byte* const groups = to + kIntegerLine;
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t column = panel * kPanel + c;
      const auto scale = ScaleOf(w, column, first, count, form.bits);
      if (!scale) return false;
      std::memcpy(to + c * static_cast<std::int64_t>(sizeof(float)), &*scale, sizeof(float));
      for (std::int64_t k = 0; k < count; ++k) {
        const float multiple = std::nearbyint(w.at(first + k, column) / *scale);
        PutInteger(static_cast<std::int32_t>(multiple), k % rows, c, form.bits,
                   groups + k / rows * kIntegerLine);
      }
    }
    to = groups + (count + rows - 1) / rows * kIntegerLine;
  }
  return true;
}

/// Weights of float16 widened; nothing for those of other types than float32.
std::optional<Tensor> AsFloats(const Tensor& w) {
  RequireWeights(w, 2);
  if (w.element() == ElementType::kFloat32) return w;
  if (w.element() != ElementType::kFloat16) return {};
  return RunOnce("Cast", {w}, {{ElementType::kFloat32, w.shape()}}, {}).front();
}

}  // namespace

std::optional<std::vector<float>> ByteScales(const Tensor& weights, bool transposed) {
  RequireWeights(weights, 2);
  if (weights.element() != ElementType::kFloat32) return {};
  const WeightMatrix w(weights, transposed);
  std::vector<float> scales;
  for (std::int64_t column = 0; column < w.columns; ++column) {
    const auto scale = ScaleOf(w, column, 0, w.depth);
    if (!scale) return {};
    scales.push_back(scale->scale);
  }
  return scales;
}

std::optional<IntegerForm> IntegerFormOf(const Tensor& weights, bool transposed) {
  const std::optional<Tensor> floats = AsFloats(weights);
  if (!floats) return {};
  const WeightMatrix w(*floats, transposed);
  if (const auto form = FormOfBlock(w, w.depth)) return form;
  for (const std::int64_t block : kBlocks) {
    if (block >= w.depth) continue;
    if (const auto form = FormOfBlock(w, block)) return form;
  }
  const IntegerForm wide{.bits = kWideBits, .block = std::min(w.depth, kWideBlock)};
  if (WasRounded(w) && KeepsRows(w, wide.block)) return wide;
  return {};
}

std::int64_t PowerLines(std::int64_t depth, const IntegerForm& form) {
  constexpr std::int64_t kOfLine = kIntegerLine / static_cast<std::int64_t>(sizeof(float));
  return form.bits == kWideBits ? (depth - 1) / kOfLine + 1 : 0;
}

std::int64_t PanelLines(std::int64_t depth, const IntegerForm& form) {
  const std::int64_t of_group = RowsOfGroup(form.bits);
  const auto lines = [&](std::int64_t rows) { return 1 + (rows + of_group - 1) / of_group; };
  const std::int64_t last = depth % form.block;
  return depth / form.block * lines(form.block) + (last > 0 ? lines(last) : 0);
}

TensorType PackedIntegersType(std::int64_t depth, std::int64_t n, const IntegerForm& form) {
  Require(depth >= 1 && n >= 1, "a packed matrix needs at least one row and one column");
  Require(form.bits == 4 || form.bits == 8 || form.bits == kWideBits,
          "numbers have " + std::to_string(form.bits) + " bits, allowed are 4, 8 and 16");
  constexpr std::int64_t kMostRows = 8;  // of a group
  const std::int64_t longest = form.bits == kWideBits ? std::min(depth, kWideBlock) : depth;
  Require(form.block >= 1 && form.block <= longest &&
              (form.block % kMostRows == 0 || form.block == depth),
          "blocks have " + std::to_string(form.block) + " rows, which do not fit a depth of " +
              std::to_string(depth));
  std::int64_t lines = (n - 1) / kPanel + 1;
  Require(!__builtin_mul_overflow(lines, PanelLines(depth, form), &lines) &&
              !__builtin_add_overflow(lines, PowerLines(depth, form), &lines),
          "a packed matrix has more than 2^63 lines");
  return {ElementType::kUint8, {lines, kIntegerLine}};
}

Tensor PackIntegers(const Tensor& weights, bool transposed, const IntegerForm& form) {
  const std::optional<Tensor> floats = AsFloats(weights);
  Require(floats.has_value(),
          "weights are " + ToString(weights.type()) + ", only floats are stored as integers");
  const WeightMatrix w(*floats, transposed);
  Tensor packed(PackedIntegersType(w.depth, w.columns, form));
  std::byte* const to = packed.mutable_data();
  std::fill_n(to, packed.bytes(), std::byte{0});
  if (form.bits == kWideBits) PackPowers(w, form.block, to);
  std::byte* const first = to + PowerLines(w.depth, form) * kIntegerLine;
  const std::int64_t panel_bytes = PanelLines(w.depth, form) * kIntegerLine;
  std::atomic<bool> has_form = true;
  PackPanels(w.columns, [&](std::int64_t panel) {
    if (!PackPanel(w, panel, form, first + panel * panel_bytes)) has_form = false;
  });
  Require(has_form, form.bits == kWideBits
                        ? std::string("weights are not all finite; leave them floats")
                        : "weights are no multiples by " + std::to_string(form.bits) +
                              " bits of a scale for each " + std::to_string(form.block) +
                              " rows of a column");
  return packed;
}

}  // namespace poprt::kernels
