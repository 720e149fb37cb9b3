#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "runtime/kernels/inner_loops_testing.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/tensor/half.hpp"

// Not a test but one more set of loops, which the tests of all tuned kernels run: what uses a
// matrix unit, on processors that have none.
namespace poprt::kernels::testing {
namespace {

float AsFloat(std::uint16_t part) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(part) << 16);
}

/// Where number (row, group, i) of a tile is: of A, i counts along the depth; of a panel, row does.
std::size_t At(std::int64_t row, int group, std::int64_t i) {
  return static_cast<std::size_t>(row * kSplitStep + 2 * i + group);
}

/// The nearest bfloat16 number.
std::uint16_t UpperHalf(float x) {
  if (std::isnan(x)) return 0x7fc0;
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(x) + 0x8000) >> 16);
}

void Split(float x, std::size_t at, std::uint16_t* tiles) {
  for (int part = 0; part < kSplitParts; ++part) {
    const std::uint16_t upper = UpperHalf(x);
    tiles[static_cast<std::size_t>(part * kSplitTile) + at] = upper;
    x -= AsFloat(upper);
  }
}

void SplitRowsOf(const SplitRows& rows, std::uint16_t* tiles) {
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    for (int group = 0; group < 2; ++group) {
      for (std::int64_t i = 0; i < kSplitGroup; ++i) {
        const std::int32_t offset = rows.offsets[group][r];
        const bool is_zero = i >= rows.lanes[group] || offset == kSplitZeros;
        Split(is_zero ? 0 : rows.first[group][offset + i], At(r, group, i), tiles);
      }
    }
  }
}

/// Number (k, column) of a scaled panel.
float ScaledAt(const std::uint32_t* panel, std::int64_t k, std::int64_t column) {
  constexpr std::int64_t kBlockWords = (1 + kScaledBlock / 2) * kSplitGroup;
  const std::uint32_t* const block = panel + k / kScaledBlock * kBlockWords;
  const std::uint32_t word = block[(1 + k % kScaledBlock / 2) * kSplitGroup + column];
  const auto integer = static_cast<std::int16_t>(word >> (k % 2 * 16));
  return static_cast<float>(integer) * std::bit_cast<float>(block[column]);
}

float TransformedAt(const TransformedPanel& panel, std::int64_t k, std::int64_t column) {
  const std::int64_t group = panel.group + k / kSplitGroup;
  const std::int64_t channel = group / panel.tap_count * kSplitGroup + k % kSplitGroup;
  if (channel >= panel.channels) return 0;
  const TransformedTap& tap = panel.taps[group % panel.tap_count];
  float sum = 0;
  for (int i = 0; i < tap.count; ++i) {
    const std::uint32_t* const element = panel.elements + tap.elements[i] * panel.stride;
    const std::int64_t row = tap.first_row + channel;
    sum += tap.factors[i] * (panel.are_scaled
                                 ? ScaledAt(element, row, column)
                                 : std::bit_cast<float>(element[row * kSplitGroup + column]));
  }
  return sum;
}

/// Number (k, column) of a panel.
float NumberAt(PanelNumbers numbers, const void* panel, std::int64_t k, std::int64_t column) {
  const std::int64_t at = k * kSplitGroup + column;
  switch (numbers) {
    case PanelNumbers::kFloat:
      return static_cast<const float*>(panel)[at];
    case PanelNumbers::kHalf:
      return static_cast<float>(
          std::bit_cast<Float16>(static_cast<const std::uint16_t*>(panel)[at]));
    case PanelNumbers::kScaled:
    case PanelNumbers::kInteger:
      return ScaledAt(static_cast<const std::uint32_t*>(panel), k, column);
    case PanelNumbers::kRows: {
      const auto& rows = *static_cast<const RowsPanel*>(panel);
      return column < rows.columns ? rows.first[k * rows.stride + column] : 0;
    }
    case PanelNumbers::kTransformed:
      break;
  }
  return TransformedAt(*static_cast<const TransformedPanel*>(panel), k, column);
}

void SplitPanel(PanelNumbers numbers, const void* panel, std::int64_t depth, std::uint16_t* tiles) {
  for (std::int64_t first = 0; first < depth; first += kSplitStep) {
    for (std::int64_t k = 0; k < kSplitStep; ++k) {
      for (std::int64_t column = 0; column < kSplitGroup; ++column) {
        const float x = first + k < depth ? NumberAt(numbers, panel, first + k, column) : 0;
        Split(x, At(k % kSplitGroup, static_cast<int>(k / kSplitGroup), column), tiles);
      }
    }
    tiles += kSplitStepNumbers;
  }
}

/// sums[16] += a row of A times a panel, a step of the depth.
void MultiplyStep(const std::uint16_t* a, const std::uint16_t* b, float* sums) {
  for (int i = 0; i < kSplitParts; ++i) {
    for (int j = 0; i + j < kSplitParts; ++j) {
      for (std::int64_t k = 0; k < kSplitStep; ++k) {
        const float factor = AsFloat(a[i * kSplitTile + k]);
        const std::uint16_t* const row = b + j * kSplitTile + k / 2 * kSplitStep + k % 2;
        for (std::int64_t c = 0; c < kSplitGroup; ++c) sums[c] += factor * AsFloat(row[2 * c]);
      }
    }
  }
}

void SplitPanels(const PanelsToSplit& split, std::uint16_t* tiles) {
  for (int panel = 0; panel < split.count; ++panel) {
    SplitPanel(split.numbers, split.panels[panel], split.depth, tiles);
    tiles += (split.depth + kSplitStep - 1) / kSplitStep * kSplitStepNumbers;
  }
}

std::array<float, kSplitGroup> SumsOfRow(const SplitProduct& product, int panel, std::int64_t row) {
  std::array<float, kSplitGroup> sums;
  const float* const from = product.accumulate
                                ? product.sums + panel * product.sums_stride + row * kSplitGroup
                                : product.start[panel];
  std::copy_n(from, kSplitGroup, sums.begin());
  for (std::int64_t step = 0; step < product.steps; ++step) {
    const std::int64_t row_tile = row / kSplitRows * product.steps + step;
    const std::int64_t panel_tile = panel * product.steps + step;
    MultiplyStep(product.a + row_tile * kSplitStepNumbers + row % kSplitRows * kSplitStep,
                 product.b + panel_tile * kSplitStepNumbers, sums.data());
  }
  return sums;
}

/// A pair of tiles after the other, or all rows at once.
void MultiplyRows(const SplitProduct& product, std::int64_t at_once) {
  for (std::int64_t first = 0; first < product.rows; first += at_once) {
    const std::int64_t rows = std::min(at_once, product.rows - first);
    product.work->Before(first + rows);
    for (int panel = 0; panel < product.panels; ++panel) {
      float* const to = product.is_last
                            ? product.pair_sums[first / kSplitPair % 2] + panel * kSplitPairSums
                            : product.sums + panel * product.sums_stride + first * kSplitGroup;
      for (std::int64_t row = 0; row < rows; ++row) {
        std::ranges::copy(SumsOfRow(product, panel, first + row), to + row * kSplitGroup);
        if (product.work->is_left) product.work->Meanwhile();
      }
      // Whole tiles are written.
      const std::int64_t end = (rows + kSplitRows - 1) / kSplitRows * kSplitRows;
      std::fill(to + rows * kSplitGroup, to + end * kSplitGroup, std::nanf(""));
    }
    if (product.is_last) product.work->After(first, first + rows);
  }
}

void Multiply(const SplitProduct& product) {
  if (product.b != nullptr) {
    MultiplyRows(product, kSplitPair);
    return SplitPanels(product.split, product.next_tiles);
  }
  std::vector<std::uint16_t> tiles(
      static_cast<std::size_t>(product.split.count * product.steps * kSplitStepNumbers));
  SplitPanels(product.split, tiles.data());
  SplitProduct few = product;
  few.b = tiles.data();
  MultiplyRows(few, kSplitFewRows);
}

void SplitPlanes(const PlanesRow& row, std::int64_t part, std::uint16_t* to) {
  const std::int64_t places = row.planes <= 2 ? 2 : 4;
  const std::int64_t end = (row.pixels + kSplitRows - 1) / kSplitRows * kSplitRows;
  for (std::int64_t pixel = 0; pixel < end; ++pixel) {
    for (std::int64_t plane = 0; plane < places; ++plane, ++to) {
      const bool is_zero = pixel >= row.pixels || plane >= row.planes;
      float x = is_zero ? 0 : row.first[plane * row.plane + pixel];
      to[0] = UpperHalf(x);
      x -= AsFloat(to[0]);
      to[part] = UpperHalf(x);
    }
  }
}

void SplitPixels(const float* from, std::int64_t pixels, std::int32_t lanes, std::int64_t part,
                 std::uint16_t* to) {
  for (std::int64_t i = 0; i < pixels * kSplitGroup; ++i) {
    const float x = i % kSplitGroup < lanes ? from[i] : 0;
    to[i] = UpperHalf(x);
    to[part + i] = UpperHalf(x - AsFloat(to[i]));
  }
}

/// As many rows as a tile has, and pairs of numbers as a step.
thread_local std::int64_t rows_of_tile = 0;
thread_local std::int64_t pairs_of_step = 0;

void Start(std::int64_t rows, std::int64_t pairs) {
  rows_of_tile = rows;
  pairs_of_step = pairs;
}

void MultiplyPixels(const PixelsProduct& product) {
  alignas(64) std::uint16_t a[kSplitStepNumbers] = {};
  for (int panel = 0; panel < product.panels; ++panel) {
    for (std::int64_t pixel = 0; pixel < product.tiles * kSplitRows; ++pixel) {
      float* const sums = product.sums + panel * kSplitPairSums + pixel * kSplitGroup;
      std::copy_n(product.start[panel], kSplitGroup, sums);
      const std::uint16_t* const first =
          product.a + pixel / kSplitRows * product.second + pixel % kSplitRows * product.pixel;
      for (std::int64_t step = 0; step < product.steps; ++step) {
        for (int i = 0; i < kSplitParts; ++i) {
          std::copy_n(first + product.step_offsets[step] + i * product.part, 2 * pairs_of_step,
                      a + i * kSplitTile);
        }
        MultiplyStep(a, product.b + (panel * product.steps + step) * kSplitStepNumbers, sums);
      }
    }
  }
}

void MultiplyTile(const TileProduct& product) {
  for (int panel = 0; panel < product.panels; ++panel) {
    for (std::int64_t row = 0; row < rows_of_tile; ++row) {
      for (std::int64_t step = 0; step < product.steps; ++step) {
        const std::int64_t at = step * kSplitStepNumbers;
        MultiplyStep(product.a + at + row * kSplitStep, product.b[panel] + at,
                     product.sums[panel] + row * kSplitGroup);
      }
    }
  }
}

bool AreBelow(float limit, const float* numbers, std::int64_t count) {
  return std::all_of(numbers, numbers + count, [=](float x) { return std::abs(x) < limit; });
}

constexpr MatrixUnit kUnit = {.split_rows = SplitRowsOf,
                              .split_panel = SplitPanel,
                              .split_planes = SplitPlanes,
                              .split_pixels = SplitPixels,
                              .start = Start,
                              .stop = [] {},
                              .multiply = Multiply,
                              .multiply_pixels = MultiplyPixels,
                              .multiply_tile = MultiplyTile,
                              .are_below = AreBelow};

}  // namespace

const InnerLoops& EmulatedUnitLoops() {
  static const InnerLoops loops = [] {
    InnerLoops with_unit = PortableInnerLoops();
    with_unit.instruction_set = "emulated matrix unit";
    with_unit.matrix_unit = &kUnit;
    return with_unit;
  }();
  return loops;
}

}  // namespace poprt::kernels::testing
