#include <immintrin.h>

#include <type_traits>

#include "runtime/kernels/matrix_unit/amx_tiles_impl.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {
namespace {

// ---- Parts -----------------------------------------------------------------------------------

constexpr int kPartMask = static_cast<int>(0xffff0000);  ///< the bits of a float that bfloat16 has

/// Pairs of bfloat16 numbers, the upper halves of the lanes of `low` and of `high`.
[[gnu::always_inline]] inline __m512i Pairs(__m512i low, __m512i high) {
  const __m512i mask = _mm512_set1_epi32(kPartMask);
  constexpr int kSelect = 0xb8;  // mask ? high : low, bit by bit, of (low, mask, high)
  return _mm512_ternarylogic_epi32(_mm512_srli_epi32(low, 16), mask, high, kSelect);
}

/// What is left of the numbers behind their upper halves.
[[gnu::always_inline]] inline __m512 Rest(__m512 x) {
  const __m512i upper = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(kPartMask));
  return _mm512_sub_ps(x, _mm512_castsi512_ps(upper));
}

/// Row `row` of kParts tiles that follow each other.
template <int kParts>
[[gnu::always_inline]] inline void StoreParts(__m512 low, __m512 high, std::int64_t row,
                                              std::uint16_t* tiles) {
  std::uint16_t* to = tiles + row * kSplitStep;
  for (int part = 0; part < kParts; ++part, to += kSplitTile) {
    _mm512_store_si512(to, Pairs(_mm512_castps_si512(low), _mm512_castps_si512(high)));
    if (part + 1 == kParts) break;
    low = Rest(low);
    high = Rest(high);
  }
}

__mmask16 FirstLanes(std::int32_t count) { return static_cast<__mmask16>((1U << count) - 1); }

/// The first numbers of a group of a row.
[[gnu::always_inline]] inline __m512 LoadGroup(const SplitRows& rows, int group, std::int64_t row,
                                               __mmask16 lanes) {
  alignas(64) static constexpr float kZeros[kSplitGroup] = {};
  const std::int32_t offset = rows.offsets[group][row];
  const float* const from = offset == kSplitZeros ? kZeros : rows.first[group] + offset;
  return _mm512_maskz_loadu_ps(lanes, from);
}

template <int kParts>
void SplitRowsInto(const SplitRows& rows, std::uint16_t* tiles) {
  const __mmask16 low = FirstLanes(rows.lanes[0]);
  const __mmask16 high = FirstLanes(rows.lanes[1]);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    StoreParts<kParts>(LoadGroup(rows, 0, r, low), LoadGroup(rows, 1, r, high), r, tiles);
  }
}

void SplitRowsOf(const SplitRows& rows, int parts, std::uint16_t* tiles) {
  if (parts == kHalfParts) return SplitRowsInto<kHalfParts>(rows, tiles);
  SplitRowsInto<kFloatParts>(rows, tiles);
}

/// How the numbers of a panel are read, a piece of kRows rows of tiles at a time, each of which is
/// of two rows of the panel, kHalfStep numbers apart.
template <PanelNumbers kNumbers>
struct PanelPieces {
  using Number = std::conditional_t<kNumbers == PanelNumbers::kFloat, float, std::uint16_t>;
  static constexpr std::int64_t kRows = 1;
  static constexpr std::int64_t kSize = kSplitGroup;  ///< numbers from one piece to the next

  /// Writes the rows from `row` on of tiles that follow each other.
  [[gnu::always_inline]] static void Split(const Number* low, const Number* high, std::int64_t row,
                                           std::uint16_t* tiles) {
    StoreParts<kPartsOf<kNumbers>>(Avx512::Load(low), Avx512::Load(high), row, tiles);
  }
};

/// Groups of four rows in three lines, see short_floats.hpp.
template <>
struct PanelPieces<PanelNumbers::kShort> {
  using Number = std::uint32_t;
  static constexpr std::int64_t kRows = 4;
  static constexpr std::int64_t kSize = 3 * kSplitGroup;

  [[gnu::always_inline]] static void Split(const Number* low, const Number* high, std::int64_t row,
                                           std::uint16_t* tiles) {
    __m512 upper[kRows];
    Avx512::EachShort(high,
                      [&](auto r, __m512 numbers) [[gnu::always_inline]] { upper[r] = numbers; });
    Avx512::EachShort(low, [&](auto r, __m512 numbers) [[gnu::always_inline]] {
      StoreParts<kPartsOf<PanelNumbers::kShort>>(numbers, upper[r], row + r, tiles);
    });
  }
};

/// Numbers from the first of a step of the depth to its second half.
template <PanelNumbers kNumbers>
inline constexpr std::int64_t kHalfStep =
    kSplitGroup / PanelPieces<kNumbers>::kRows* PanelPieces<kNumbers>::kSize;

template <PanelNumbers kNumbers>
void SplitPanelOf(const void* panel, std::int64_t depth, std::uint16_t* tiles) {
  using Pieces = PanelPieces<kNumbers>;
  using Number = typename Pieces::Number;
  alignas(64) static constexpr Number kZeros[Pieces::kSize] = {};
  const auto* from = static_cast<const Number*>(panel);
  for (; depth > 0; depth -= kSplitStep) {
    for (std::int64_t r = 0; r < kSplitGroup; r += Pieces::kRows, from += Pieces::kSize) {
      Pieces::Split(r < depth ? from : kZeros,
                    r + kSplitGroup < depth ? from + kHalfStep<kNumbers> : kZeros, r, tiles);
    }
    from += kHalfStep<kNumbers>;
    tiles += kPartsOf<kNumbers> * kSplitTile;
  }
}

void SplitPanel(PanelNumbers numbers, const void* panel, std::int64_t depth, std::uint16_t* tiles) {
  switch (numbers) {
    case PanelNumbers::kFloat:
      return SplitPanelOf<PanelNumbers::kFloat>(panel, depth, tiles);
    case PanelNumbers::kHalf:
      return SplitPanelOf<PanelNumbers::kHalf>(panel, depth, tiles);
    case PanelNumbers::kShort:
      return SplitPanelOf<PanelNumbers::kShort>(panel, depth, tiles);
  }
}

// ---- Products --------------------------------------------------------------------------------

template <int kTiles>
[[gnu::always_inline]] inline void LoadRows(const std::uint16_t* a, std::int64_t stride) {
  _tile_loadd(4, a, kRowBytes);
  if constexpr (kTiles == 2) _tile_loadd(5, a + stride, kRowBytes);
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
  using Pieces = PanelPieces<kNumbers>;
  using Number = typename Pieces::Number;

 public:
  /// In `times` calls of Some().
  NextPanels(const SplitProduct& product, std::int64_t times)
      : next_(static_cast<const Number*>(product.next[0])),
        second_(static_cast<const Number*>(product.next[1])),
        tiles_(product.next_tiles),
        pieces_of_panel_(product.next_steps * kSplitGroup / Pieces::kRows),
        left_(product.next_panels * pieces_of_panel_),
        pieces_(left_),
        times_(times) {}

  [[gnu::always_inline]] void Some() {
    for (due_ += pieces_; due_ >= times_; due_ -= times_) Piece();
  }

 private:
  /// Bytes from those that are split to those that are fetched, most often of the same panel or of
  /// that behind it: as long as the third-level cache takes. Fetching more of them at a time would
  /// keep tiles from being loaded.
  static constexpr std::int64_t kAhead = 3072;
  static constexpr std::int64_t kLine = 64;

  [[gnu::always_inline]] void Piece() {
    const Number* const high = next_ + kHalfStep<kNumbers>;
    for (std::int64_t at = 0; at < Pieces::kSize * std::int64_t{sizeof(Number)}; at += kLine) {
      __builtin_prefetch(reinterpret_cast<const char*>(next_) + kAhead + at, 0, 2);
      __builtin_prefetch(reinterpret_cast<const char*>(high) + kAhead + at, 0, 2);
    }
    Pieces::Split(next_, high, row_, tiles_);
    next_ += Pieces::kSize;
    --left_;
    row_ += Pieces::kRows;
    if (row_ < kSplitGroup) return;
    row_ = 0;
    next_ += kHalfStep<kNumbers>;
    tiles_ += kPartsOf<kNumbers> * kSplitTile;
    if (left_ == pieces_of_panel_) next_ = second_;
  }

  const Number* next_;
  const Number* second_;
  std::uint16_t* tiles_;
  std::int64_t pieces_of_panel_;
  std::int64_t left_;    ///< pieces
  std::int64_t pieces_;  ///< that are split in so many times
  std::int64_t times_;
  std::int64_t due_ = 0;
  std::int64_t row_ = 0;  ///< of the tile
};

/// How many products of parts i and j have i + j < 3.
template <int kRowParts, PanelNumbers kNumbers>
inline constexpr int kProducts = kRowParts + kPartsOf<kNumbers>;

/// Two tiles of rows, or one, times one or two panels: the products of parts i and j with i + j <
/// 3, in an order that loads few tiles anew.
template <int kTiles, int kPanels, int kRowParts, PanelNumbers kNumbers>
void MultiplyTiles(const SplitProduct& product, std::int64_t row, const PairSums& to,
                   NextPanels<kNumbers>& next) {
  constexpr std::int64_t kRowStep = kRowParts * kSplitTile;
  constexpr std::int64_t kPanelStep = kPartsOf<kNumbers> * kSplitTile;
  const std::int64_t row_stride = product.steps * kRowStep;
  const std::int64_t panel_stride = product.steps * kPanelStep;
  const std::uint16_t* a = product.a + row / kSplitRows * row_stride;
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
  for (std::int64_t s = 0; s < product.steps; ++s, a += kRowStep, b += kPanelStep) {
    LoadRows<kTiles>(a, row_stride);
    if constexpr (kPartsOf<kNumbers> == 3) {
      LoadPanels<kPanels>(b + 2 * kSplitTile, panel_stride);
      multiply();
    }
    LoadPanels<kPanels>(b + kSplitTile, panel_stride);
    multiply();
    if (s % 2 == 1) awake.Keep();
    LoadRows<kTiles>(a + kSplitTile, row_stride);
    multiply();
    LoadPanels<kPanels>(b, panel_stride);
    multiply();
    LoadRows<kTiles>(a, row_stride);
    multiply();
    if constexpr (kRowParts == 3) {
      LoadRows<kTiles>(a + 2 * kSplitTile, row_stride);
      multiply();
    }
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

void Start() { ShapeTiles(kSplitRows, kSplitRows); }
void Stop() { _tile_release(); }

/// Cycles that it takes to give tiles other shapes and then the same again. Up to so many are
/// rather spent on rows of a tile behind the last one, whatever these hold.
constexpr std::int64_t kShapeCycles = 600;

template <int kPanels, int kRowParts, PanelNumbers kNumbers>
void MultiplyPanels(const SplitProduct& product) {
  const std::int64_t pairs = (product.rows + kSplitPair - 1) / kSplitPair;
  NextPanels<kNumbers> next(product, pairs * product.steps * kProducts<kRowParts, kNumbers>);
  for (std::int64_t row = 0; row < product.rows; row += kSplitPair) {
    const std::int64_t left = product.rows - row;
    const bool are_two = left > kSplitRows;
    const std::int64_t rows_of_last = left - (are_two ? kSplitRows : 0);
    const std::int64_t spare =
        (kSplitRows - rows_of_last) * product.steps * kProducts<kRowParts, kNumbers> * kPanels;
    const bool shapes = spare > kShapeCycles;
    if (shapes) ShapeTiles(are_two ? kSplitRows : rows_of_last, are_two ? rows_of_last : 0);
    product.work->Before(row);
    const PairSums sums = SumsOfPair(product, row);
    if (are_two) {
      MultiplyTiles<2, kPanels, kRowParts, kNumbers>(product, row, sums, next);
    } else {
      MultiplyTiles<1, kPanels, kRowParts, kNumbers>(product, row, sums, next);
    }
    if (shapes) Start();
    if (product.is_last) product.work->After(row);
  }
}

template <int kRowParts, PanelNumbers kNumbers>
void MultiplyParts(const SplitProduct& product) {
  if (product.panels == 2) return MultiplyPanels<2, kRowParts, kNumbers>(product);
  MultiplyPanels<1, kRowParts, kNumbers>(product);
}

template <int kRowParts>
void MultiplyRows(const SplitProduct& product) {
  switch (product.b_numbers) {
    case PanelNumbers::kFloat:
      return MultiplyParts<kRowParts, PanelNumbers::kFloat>(product);
    case PanelNumbers::kHalf:
      return MultiplyParts<kRowParts, PanelNumbers::kHalf>(product);
    case PanelNumbers::kShort:  // for rows of float32 only
      return MultiplyParts<kFloatParts, PanelNumbers::kShort>(product);
  }
}

void Multiply(const SplitProduct& product) {
  if (product.a_parts == kFloatParts) return MultiplyRows<kFloatParts>(product);
  MultiplyRows<kHalfParts>(product);
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
                                   .start = Start,
                                   .stop = Stop,
                                   .multiply = Multiply,
                                   .are_finite = AreFinite};

}  // namespace poprt::kernels
