#include <immintrin.h>

#include "runtime/kernels/matrix_unit/amx_tiles_impl.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/matrix_unit/panel_steps_impl.hpp"
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
  for (; depth > 0; depth -= kSplitStep, tiles += kSplitParts * kSplitTile) {
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

/// Splits the next panels bit by bit: the matrix unit works on its own meanwhile, and the processor
/// fetches what comes next as evenly as it is read.
template <PanelNumbers kNumbers>
class NextPanels {
  using Steps = PanelSteps<kNumbers>;

 public:
  /// In `times` calls of Some().
  NextPanels(const SplitProduct& product, std::int64_t times)
      : second_(product.next[1]),
        tiles_(product.next_tiles),
        pieces_of_panel_(product.next_steps * kSplitGroup / kPieceRows),
        left_(product.next_panels * pieces_of_panel_),
        pieces_(left_),
        times_(times) {
    if (left_ > 0) steps_ = Steps(product.next[0]);
  }

  [[gnu::always_inline]] void Some() {
    for (due_ += pieces_; due_ >= times_; due_ -= times_) Piece();
  }

 private:
  [[gnu::always_inline]] void Piece() {
    steps_.Fetch(row_);
    steps_.Split(row_, tiles_);
    --left_;
    row_ += kPieceRows;
    if (row_ < kSplitGroup) return;
    row_ = 0;
    tiles_ += kSplitParts * kSplitTile;
    if (left_ == pieces_of_panel_) {
      steps_ = Steps(second_);
    } else {
      steps_.Next();
    }
  }

  Steps steps_;
  const void* second_;
  std::uint16_t* tiles_;
  std::int64_t pieces_of_panel_;
  std::int64_t left_;    ///< pieces
  std::int64_t pieces_;  ///< that are split in so many times
  std::int64_t times_;
  std::int64_t due_ = 0;
  std::int64_t row_ = 0;  ///< of the tile
};

/// Two tiles of rows, or one, times one or two panels.
template <int kTiles, int kPanels, PanelNumbers kNumbers>
void MultiplyTiles(const SplitProduct& product, std::int64_t row, const PairSums& to,
                   NextPanels<kNumbers>& next) {
  constexpr std::int64_t kStep = kSplitParts * kSplitTile;
  const std::int64_t stride = product.steps * kStep;
  const std::uint16_t* a = product.a + row / kSplitRows * stride;
  const std::uint16_t* b = product.b;
  SplitWork& work = *product.work;
  AwakeStores awake;
  const auto multiply = [&]() [[gnu::always_inline]] {
    MultiplyLoaded<kTiles, kPanels>();
    next.Some();
    if (work.is_left) work.Meanwhile();
  };
  if (product.accumulate) {
    LoadSums<kTiles, kPanels>(product.sums + row * kSplitGroup, LayoutOf(product.sums_stride));
  } else {
    // One row for all.
    const std::int64_t second = kPanels == 2 ? product.start[1] - product.start[0] : 0;
    LoadSums<kTiles, kPanels>(product.start[0], {0, 0, 4 * second});
  }
  for (std::int64_t s = 0; s < product.steps; ++s, a += kStep, b += kStep) {
    LoadRows<kTiles>(a, stride);
    LoadPanels<kPanels>(b + kSplitTile, stride);
    multiply();
    if (s % 2 == 1) awake.Keep();
    LoadPanels<kPanels>(b, stride);
    multiply();
    LoadRows<kTiles>(a + kSplitTile, stride);
    multiply();
  }
  StoreSums<kTiles, kPanels>(to.first, to.layout);
}

/// Where the sums of the pair of tiles of rows from `row` on are to be stored.
PairSums SumsOfPair(const SplitProduct& product, std::int64_t row) {
  if (product.is_last) {
    return {product.pair_sums[row / kSplitPair % 2], LayoutOf(kSplitPairSums)};
  }
  return {product.sums + row * kSplitGroup, LayoutOf(product.sums_stride)};
}

void Start(std::int64_t pairs_of_step) { ShapeTiles(kSplitRows, kSplitRows, pairs_of_step); }
void Stop() { _tile_release(); }

/// Cycles that it takes to give tiles other shapes and then the same again. Up to so many are
/// rather spent on rows of a tile behind the last one, whatever these hold.
constexpr std::int64_t kShapeCycles = 600;

template <int kPanels, PanelNumbers kNumbers>
void MultiplyPanels(const SplitProduct& product) {
  const std::int64_t pairs = (product.rows + kSplitPair - 1) / kSplitPair;
  NextPanels<kNumbers> next(product, pairs * product.steps * kSplitProducts);
  for (std::int64_t row = 0; row < product.rows; row += kSplitPair) {
    const std::int64_t left = product.rows - row;
    const bool are_two = left > kSplitRows;
    const std::int64_t rows_of_last = left - (are_two ? kSplitRows : 0);
    const std::int64_t spare =
        (kSplitRows - rows_of_last) * product.steps * kSplitProducts * kPanels;
    const bool shapes = spare > kShapeCycles;
    if (shapes) ShapeTiles(are_two ? kSplitRows : rows_of_last, are_two ? rows_of_last : 0);
    product.work->Before(row);
    const PairSums sums = SumsOfPair(product, row);
    if (are_two) {
      MultiplyTiles<2, kPanels, kNumbers>(product, row, sums, next);
    } else {
      MultiplyTiles<1, kPanels, kNumbers>(product, row, sums, next);
    }
    if (shapes) Start(kSplitGroup);
    if (product.is_last) product.work->After(row);
  }
}

template <PanelNumbers kNumbers>
void MultiplyBefore(const SplitProduct& product) {
  if (product.panels == 2) return MultiplyPanels<2, kNumbers>(product);
  MultiplyPanels<1, kNumbers>(product);
}

void Multiply(const SplitProduct& product) {
  switch (product.next_numbers) {
    case PanelNumbers::kFloat:
      return MultiplyBefore<PanelNumbers::kFloat>(product);
    case PanelNumbers::kHalf:
      return MultiplyBefore<PanelNumbers::kHalf>(product);
    case PanelNumbers::kScaled:
    case PanelNumbers::kInteger:
      return MultiplyBefore<PanelNumbers::kScaled>(product);
    case PanelNumbers::kTransformed:
      return MultiplyBefore<PanelNumbers::kTransformed>(product);
  }
}

// ---- Images of planes --------------------------------------------------------------------------

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

template <int kTiles, int kPanels>
void MultiplyPixelTiles(const PixelsProduct& product) {
  const std::int64_t panel_stride = product.steps * kSplitParts * kSplitTile;
  const std::int64_t row_bytes = 2 * product.pixel;
  AwakeStores awake;
  LoadSums<kTiles, kPanels>(product.start[0],
                            {0, 0, kPanels == 2 ? 4 * (product.start[1] - product.start[0]) : 0});
  const std::uint16_t* b = product.b;
  for (std::int64_t s = 0; s < product.steps; ++s, b += kSplitParts * kSplitTile) {
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

bool AreFinite(const float* numbers, std::int64_t count) {
  constexpr int kInfinitiesAndNans = 0x99;
  __mmask16 others = 0;
  std::int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    others |= _mm512_fpclass_ps_mask(_mm512_loadu_ps(numbers + i), kInfinitiesAndNans);
  }
  const __mmask16 rest = FirstLanes(static_cast<std::int32_t>(count - i));
  others |= _mm512_fpclass_ps_mask(_mm512_maskz_loadu_ps(rest, numbers + i), kInfinitiesAndNans);
  return others == 0;
}

}  // namespace

const MatrixUnit kAmxMatrixUnit = {.split_rows = SplitRowsOf,
                                   .split_panel = SplitPanel,
                                   .split_planes = SplitPlanes,
                                   .start = Start,
                                   .stop = Stop,
                                   .multiply = Multiply,
                                   .multiply_pixels = MultiplyPixels,
                                   .are_finite = AreFinite};

}  // namespace poprt::kernels
