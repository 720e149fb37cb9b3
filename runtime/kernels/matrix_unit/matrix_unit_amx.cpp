#include <immintrin.h>

#include "runtime/kernels/matrix_unit/amx_tiles_impl.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/matrix_unit/panel_steps_impl.hpp"
#include "runtime/kernels/matrix_unit/product_panels_impl.hpp"
#include "runtime/kernels/matrix_unit/split_parts_impl.hpp"

namespace poprt::kernels {
namespace {

// ---- Operands ----------------------------------------------------------------------------------

__mmask16 FirstLanes(std::int32_t count) { return static_cast<__mmask16>((1U << count) - 1); }

/// The first numbers of a group of a row.
[[gnu::always_inline]] inline __m512 LoadGroup(const SplitRows& rows, int group, std::int64_t row,
                                               __mmask16 lanes) {
  alignas(64) static constexpr float kZeros[kSplitGroup] = {};
  const std::int32_t offset = rows.offsets[group][row];
  const float* const from = offset == kSplitZeros ? kZeros : rows.first[group] + offset;
  return _mm512_maskz_loadu_ps(lanes, from);
}

void SplitRowsOf(const SplitRows& rows, std::uint16_t* tiles) {
  const __mmask16 low = FirstLanes(rows.lanes[0]);
  const __mmask16 high = FirstLanes(rows.lanes[1]);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    StoreParts(LoadGroup(rows, 0, r, low), LoadGroup(rows, 1, r, high), r, tiles);
  }
}

template <PanelNumbers kNumbers>
void SplitPanelOf(const void* panel, std::int64_t depth, std::uint16_t* tiles) {
  using Steps = PanelSteps<kNumbers>;
  typename Steps::Copy last;
  Steps steps(panel);
  for (; depth > 0; depth -= kSplitStep, tiles += kSplitStepNumbers) {
    if (depth < kSplitStep) steps.EndIn(depth, last);
    for (std::int64_t row = 0; row < kSplitGroup; row += kPieceRows) steps.Split(row, tiles);
    steps.Next();
  }
}

void SplitPanel(PanelNumbers numbers, const void* panel, std::int64_t depth, std::uint16_t* tiles) {
  switch (numbers) {
    case PanelNumbers::kFloat:
      return SplitPanelOf<PanelNumbers::kFloat>(panel, depth, tiles);
    case PanelNumbers::kHalf:
      return SplitPanelOf<PanelNumbers::kHalf>(panel, depth, tiles);
    case PanelNumbers::kScaled:
    case PanelNumbers::kInteger:
      return SplitPanelOf<PanelNumbers::kScaled>(panel, depth, tiles);
    case PanelNumbers::kRows:
      return SplitPanelOf<PanelNumbers::kRows>(panel, depth, tiles);
    case PanelNumbers::kTransformed:
      return SplitPanelOf<PanelNumbers::kTransformed>(panel, depth, tiles);
  }
}

// ---- Products --------------------------------------------------------------------------------

template <int kTiles>
[[gnu::always_inline]] inline void LoadRows(const std::uint16_t* a, std::int64_t stride,
                                            std::int64_t row_bytes = kRowBytes) {
  _tile_loadd(4, a, row_bytes);
  if constexpr (kTiles == 2) _tile_loadd(5, a + stride, row_bytes);
}

template <int kPanels>
[[gnu::always_inline]] inline void LoadPanels(const std::uint16_t* b, std::int64_t stride) {
  _tile_loadd(6, b, kRowBytes);
  if constexpr (kPanels == 2) _tile_loadd(7, b + stride, kRowBytes);
}

template <int kTiles, int kPanels>
[[gnu::always_inline]] inline void MultiplyLoaded() {
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kPanels == 2) _tile_dpbf16ps(1, 4, 7);
  if constexpr (kTiles == 2) _tile_dpbf16ps(2, 5, 6);
  if constexpr (kTiles == 2 && kPanels == 2) _tile_dpbf16ps(3, 5, 7);
}

/// As _tile_dpbf16ps, which takes digits only.
template <int kSums, int kA, int kB>
[[gnu::always_inline]] inline void MultiplyTile() {
  __asm__ volatile("tdpbf16ps\t%%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
}

/// One or two tiles of rows of a column, whose sums begin in kSums, by a part of its panel.
template <int kSums, int kTiles, int kPanel>
[[gnu::always_inline]] inline void MultiplyPart() {
  MultiplyTile<kSums, 4, kPanel>();
  if constexpr (kTiles == 2) MultiplyTile<kSums + 1, 5, kPanel>();
}

/// Bytes of the sums of a tile.
constexpr std::int64_t kTileSumsBytes = kSplitRows * kRowBytes;

/// Of sums whose panels are so many floats apart.
SumsLayout LayoutOf(std::int64_t panel_stride) {
  return {kRowBytes, kTileSumsBytes, 4 * panel_stride};
}

/// Where the sums of a pair of tiles of rows are.
struct PairSums {
  float* first;
  SumsLayout layout;
};

/// Two tiles of rows, or one, times one or two panels.
template <int kTiles, int kPanels, class Panels>
void MultiplyTiles(const SplitProduct& product, std::int64_t row, const PairSums& to,
                   Panels& panels) {
  const std::int64_t stride = product.steps * kSplitStepNumbers;
  const std::uint16_t* a = product.a + row / kSplitRows * stride;
  SplitWork& work = *product.work;
  AwakeStores awake;
  const auto multiply = [&](auto number) {
    MultiplyLoaded<kTiles, kPanels>();
    panels.Some(number);
    if (work.is_left) work.Meanwhile();
  };
  if (product.accumulate) {
    LoadSums<kTiles, kPanels>(product.sums + row * kSplitGroup, LayoutOf(product.sums_stride));
  } else {
    // One row for all.
    const std::int64_t second = kPanels == 2 ? product.start[1] - product.start[0] : 0;
    LoadSums<kTiles, kPanels>(product.start[0], {0, 0, 4 * second});
  }
  for (std::int64_t s = 0; s < product.steps; ++s, a += kSplitStepNumbers) {
    const std::uint16_t* const b = panels.Tiles(s);
    LoadRows<kTiles>(a, stride);
    LoadPanels<kPanels>(b + kSplitTile, panels.Stride());
    multiply(ProductOfStep<0>());
    if (s % 2 == 1) awake.Keep();
    LoadPanels<kPanels>(b, panels.Stride());
    multiply(ProductOfStep<1>());
    LoadRows<kTiles>(a + kSplitTile, stride);
    multiply(ProductOfStep<2>());
    panels.Next();
  }
  StoreSums<kTiles, kPanels>(to.first, to.layout);
}

/// Three tiles of rows, or four, times one panel: the same products in the same order.
template <int kTiles, class Panels>
void MultiplyColumn(const SplitProduct& product, float* to, Panels& panels) {
  constexpr int kOthers = kTiles - 2;
  const std::int64_t stride = product.steps * kSplitStepNumbers;
  const std::uint16_t* a = product.a;
  const std::uint16_t* others = a + 2 * stride;
  SplitWork& work = *product.work;
  AwakeStores awake;
  const auto meanwhile = [&](auto number) {
    panels.Some(number);
    if (work.is_left) work.Meanwhile();
  };
  if (product.accumulate) {
    LoadColumn<kTiles>(product.sums, kRowBytes, kTileSumsBytes);
  } else {
    LoadColumn<kTiles>(product.start[0], 0, 0);
  }
  for (std::int64_t s = 0; s < product.steps;
       ++s, a += kSplitStepNumbers, others += kSplitStepNumbers) {
    const std::uint16_t* const b = panels.Tiles(s);
    _tile_loadd(6, b + kSplitTile, kRowBytes);
    _tile_loadd(7, b, kRowBytes);
    LoadRows<2>(a, stride);
    MultiplyPart<0, 2, 6>();
    MultiplyPart<0, 2, 7>();
    meanwhile(ProductOfStep<0>());
    LoadRows<kOthers>(others, stride);
    MultiplyPart<2, kOthers, 6>();
    MultiplyPart<2, kOthers, 7>();
    meanwhile(ProductOfStep<1>());
    if (s % 2 == 1) awake.Keep();
    LoadRows<2>(a + kSplitTile, stride);
    MultiplyPart<0, 2, 7>();
    LoadRows<kOthers>(others + kSplitTile, stride);
    MultiplyPart<2, kOthers, 7>();
    meanwhile(ProductOfStep<2>());
    panels.Next();
  }
  StoreColumn<kTiles>(to, kTileSumsBytes);
}

/// Where the sums of the pair of tiles of rows from `row` on are to be stored.
PairSums SumsOfPair(const SplitProduct& product, std::int64_t row) {
  if (product.is_last) {
    return {product.pair_sums[row / kSplitPair % 2], LayoutOf(kSplitPairSums)};
  }
  return {product.sums + row * kSplitGroup, LayoutOf(product.sums_stride)};
}

void Start(std::int64_t rows_of_tile, std::int64_t pairs_of_step) {
  ShapeTiles(rows_of_tile, rows_of_tile, pairs_of_step);
}
void Stop() { _tile_release(); }

/// Cycles that it takes to give tiles other shapes and then the same again. Up to so many are
/// rather spent on rows of a tile behind the last one, whatever these hold.
constexpr std::int64_t kShapeCycles = 600;

/// Two tiles of rows from `row` on, or one.
template <int kPanels, class Panels>
void MultiplyPair(const SplitProduct& product, std::int64_t row, Panels& panels) {
  const std::int64_t left = product.rows - row;
  const bool are_two = left > kSplitRows;
  const std::int64_t rows_of_last = left - (are_two ? kSplitRows : 0);
  const std::int64_t spare = (kSplitRows - rows_of_last) * product.steps * kSplitProducts * kPanels;
  const bool shapes = spare > kShapeCycles;
  if (shapes) ShapeTiles(are_two ? kSplitRows : rows_of_last, are_two ? rows_of_last : 0);
  const std::int64_t end = left < kSplitPair ? product.rows : row + kSplitPair;
  product.work->Before(end);
  const PairSums sums = SumsOfPair(product, row);
  if (are_two) {
    MultiplyTiles<2, kPanels>(product, row, sums, panels);
  } else {
    MultiplyTiles<1, kPanels>(product, row, sums, panels);
  }
  if (shapes) Start(kSplitRows, kSplitGroup);
  if (product.is_last) product.work->After(row, end);
}

template <int kPanels, PanelNumbers kNumbers>
void MultiplyMany(const SplitProduct& product) {
  const std::int64_t pairs = (product.rows + kSplitPair - 1) / kSplitPair;
  PanelsSplitBefore<kNumbers> panels(product, pairs * product.steps * kSplitProducts);
  for (std::int64_t row = 0; row < product.rows; row += kSplitPair) {
    MultiplyPair<kPanels>(product, row, panels);
  }
}

template <int kPanels, PanelNumbers kNumbers>
void MultiplyFewPair(const SplitProduct& product) {
  PanelsSplitMeanwhile<kPanels, kNumbers> panels(product.split);
  MultiplyPair<kPanels>(product, 0, panels);
}

template <int kTiles, PanelNumbers kNumbers>
void MultiplyFewColumn(const SplitProduct& product) {
  PanelsSplitMeanwhile<1, kNumbers> panels(product.split);
  product.work->Before(product.rows);
  MultiplyColumn<kTiles>(product, product.is_last ? product.pair_sums[0] : product.sums, panels);
  if (product.is_last) product.work->After(0, product.rows);
}

template <PanelNumbers kNumbers>
void MultiplyFew(const SplitProduct& product) {
  if (product.rows > 3 * kSplitRows) return MultiplyFewColumn<4, kNumbers>(product);
  if (product.rows > kSplitPair) return MultiplyFewColumn<3, kNumbers>(product);
  if (product.panels == 2) return MultiplyFewPair<2, kNumbers>(product);
  MultiplyFewPair<1, kNumbers>(product);
}

template <PanelNumbers kNumbers>
void MultiplyAny(const SplitProduct& product) {
  if constexpr (kNumbers != PanelNumbers::kTransformed) {
    if (product.b == nullptr) return MultiplyFew<kNumbers>(product);
  }
  if (product.panels == 2) return MultiplyMany<2, kNumbers>(product);
  MultiplyMany<1, kNumbers>(product);
}

void Multiply(const SplitProduct& product) {
  switch (product.split.numbers) {
    case PanelNumbers::kFloat:
      return MultiplyAny<PanelNumbers::kFloat>(product);
    case PanelNumbers::kHalf:
      return MultiplyAny<PanelNumbers::kHalf>(product);
    case PanelNumbers::kScaled:
    case PanelNumbers::kInteger:
      return MultiplyAny<PanelNumbers::kScaled>(product);
    case PanelNumbers::kRows:
      return MultiplyAny<PanelNumbers::kRows>(product);
    case PanelNumbers::kTransformed:
      return MultiplyAny<PanelNumbers::kTransformed>(product);
  }
}

// ---- Images that are split where they lie ------------------------------------------------------

template <int kPairs>
void SplitPlanesOf(const PlanesRow& row, std::int64_t part, std::uint16_t* to) {
  const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  for (std::int64_t first = 0; first < row.pixels; first += 16, to += 32 * kPairs) {
    const std::int64_t left = row.pixels - first;
    const __mmask16 lanes = FirstLanes(left < 16 ? static_cast<std::int32_t>(left) : 16);
    const auto load = [&](std::int64_t plane) {
      return plane < row.planes
                 ? _mm512_maskz_loadu_ps(lanes, row.first + plane * row.plane + first)
                 : _mm512_setzero_ps();
    };
    const PairParts pair(load(0), load(1));
    if constexpr (kPairs == 1) {
      _mm512_storeu_si512(to, pair.parts[0]);
      _mm512_storeu_si512(to + part, pair.parts[1]);
    } else {
      const PairParts other(load(2), load(3));
      for (int i = 0; i < kSplitParts; ++i) {
        const __m512i a = pair.parts[i];
        const __m512i b = other.parts[i];
        _mm512_storeu_si512(to + i * part, _mm512_permutex2var_epi32(a, low, b));
        _mm512_storeu_si512(to + i * part + 32, _mm512_permutex2var_epi32(a, high, b));
      }
    }
  }
}

void SplitPlanes(const PlanesRow& row, std::int64_t part, std::uint16_t* to) {
  if (row.planes <= 2) return SplitPlanesOf<1>(row, part, to);
  SplitPlanesOf<2>(row, part, to);
}

void SplitPixels(const float* from, std::int64_t pixels, std::int32_t lanes, std::int64_t part,
                 std::uint16_t* to) {
  const __mmask16 mask = FirstLanes(lanes);
  const auto store = [](__m512i numbers, std::uint16_t* at) {
    const __m256i upper = _mm512_cvtepi32_epi16(_mm512_srli_epi32(numbers, 16));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), upper);
  };
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel, from += kSplitGroup, to += kSplitGroup) {
    const __m512 x = _mm512_maskz_loadu_ps(mask, from);
    const __m512i rounded = Rounded(x);
    store(rounded, to);
    store(RoundedRest(x, rounded), to + part);
  }
}

template <int kTiles, int kPanels>
void MultiplyPixelTiles(const PixelsProduct& product) {
  const std::int64_t panel_stride = product.steps * kSplitStepNumbers;
  const std::int64_t row_bytes = 2 * product.pixel;
  AwakeStores awake;
  LoadSums<kTiles, kPanels>(product.start[0],
                            {0, 0, kPanels == 2 ? 4 * (product.start[1] - product.start[0]) : 0});
  const std::uint16_t* b = product.b;
  for (std::int64_t s = 0; s < product.steps; ++s, b += kSplitStepNumbers) {
    const std::uint16_t* const a = product.a + product.step_offsets[s];
    LoadRows<kTiles>(a, product.second, row_bytes);
    LoadPanels<kPanels>(b + kSplitTile, panel_stride);
    MultiplyLoaded<kTiles, kPanels>();
    if (s % 8 == 7) awake.Keep();
    LoadPanels<kPanels>(b, panel_stride);
    MultiplyLoaded<kTiles, kPanels>();
    LoadRows<kTiles>(a + product.part, product.second, row_bytes);
    MultiplyLoaded<kTiles, kPanels>();
  }
  StoreSums<kTiles, kPanels>(product.sums, LayoutOf(kSplitPairSums));
}

void MultiplyPixels(const PixelsProduct& product) {
  if (product.tiles == 2) {
    if (product.panels == 2) return MultiplyPixelTiles<2, 2>(product);
    return MultiplyPixelTiles<2, 1>(product);
  }
  if (product.panels == 2) return MultiplyPixelTiles<1, 2>(product);
  MultiplyPixelTiles<1, 1>(product);
}

// ---- Tiles of rows by panels that have been split ----------------------------------------------

/// A part of two panels, whose sums begin in kSums, or of one, by the first part of A or by both.
template <int kSums, int kPanels, int kParts>
[[gnu::always_inline]] inline void MultiplyTwoPanels(const std::uint16_t* const* b,
                                                     std::int64_t at) {
  constexpr bool kAreTwo = kPanels > kSums + 1;
  _tile_loadd(6, b[kSums] + at, kRowBytes);
  MultiplyTile<kSums, 4, 6>();
  if constexpr (kAreTwo) {
    _tile_loadd(7, b[kSums + 1] + at, kRowBytes);
    MultiplyTile<kSums + 1, 4, 7>();
  }
  if constexpr (kParts == 2) MultiplyTile<kSums, 5, 6>();
  if constexpr (kParts == 2 && kAreTwo) MultiplyTile<kSums + 1, 5, 7>();
}

template <int kPanels>
void MultiplyTileBy(const TileProduct& product) {
  AwakeStores awake;
  _tile_loadd(0, product.sums[0], kRowBytes);
  if constexpr (kPanels > 1) _tile_loadd(1, product.sums[1], kRowBytes);
  if constexpr (kPanels > 2) _tile_loadd(2, product.sums[2], kRowBytes);
  if constexpr (kPanels > 3) _tile_loadd(3, product.sums[3], kRowBytes);
  for (std::int64_t s = 0; s < product.steps; ++s) {
    const std::int64_t at = s * kSplitStepNumbers;
    _tile_loadd(4, product.a + at, kRowBytes);
    _tile_loadd(5, product.a + at + kSplitTile, kRowBytes);
    MultiplyTwoPanels<0, kPanels, 2>(product.b, at);
    if constexpr (kPanels > 2) MultiplyTwoPanels<2, kPanels, 2>(product.b, at);
    if (s % 4 == 3) awake.Keep();
    MultiplyTwoPanels<0, kPanels, 1>(product.b, at + kSplitTile);
    if constexpr (kPanels > 2) MultiplyTwoPanels<2, kPanels, 1>(product.b, at + kSplitTile);
  }
  _tile_stored(0, product.sums[0], kRowBytes);
  if constexpr (kPanels > 1) _tile_stored(1, product.sums[1], kRowBytes);
  if constexpr (kPanels > 2) _tile_stored(2, product.sums[2], kRowBytes);
  if constexpr (kPanels > 3) _tile_stored(3, product.sums[3], kRowBytes);
}

void MultiplyTileBySplitPanels(const TileProduct& product) {
  switch (product.panels) {
    case 1:
      return MultiplyTileBy<1>(product);
    case 2:
      return MultiplyTileBy<2>(product);
    case 3:
      return MultiplyTileBy<3>(product);
    default:
      return MultiplyTileBy<4>(product);
  }
}

bool AreBelow(float limit, const float* numbers, std::int64_t count) {
  const __m512 limits = _mm512_set1_ps(limit);
  __mmask16 others = 0;
  const auto look = [&](__m512 x) {
    others |= _mm512_cmp_ps_mask(_mm512_abs_ps(x), limits, _CMP_NLT_UQ);
  };
  std::int64_t i = 0;
  for (; i + 16 <= count; i += 16) look(_mm512_loadu_ps(numbers + i));
  look(_mm512_maskz_loadu_ps(FirstLanes(static_cast<std::int32_t>(count - i)), numbers + i));
  return others == 0;
}

}  // namespace

const MatrixUnit kAmxMatrixUnit = {.split_rows = SplitRowsOf,
                                   .split_panel = SplitPanel,
                                   .split_planes = SplitPlanes,
                                   .split_pixels = SplitPixels,
                                   .start = Start,
                                   .stop = Stop,
                                   .multiply = Multiply,
                                   .multiply_pixels = MultiplyPixels,
                                   .multiply_tile = MultiplyTileBySplitPanels,
                                   .are_below = AreBelow};

}  // namespace poprt::kernels
