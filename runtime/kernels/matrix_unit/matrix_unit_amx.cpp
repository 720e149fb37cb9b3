#include <immintrin.h>

#include <iterator>
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

/// Numbers whose upper halves are x, rounded to nearest; but some NaN become others.
[[gnu::always_inline]] inline __m512i Rounded(__m512 x) {
  return _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
}

/// What is left of x without the upper half of what it was rounded to, times 1 + 2^-8.5, so that
/// its upper half is rounded: it is more than 0.7 of a last bit off never, and nothing where that
/// half can hold it. A NaN stays one.
[[gnu::always_inline]] inline __m512i RoundedRest(__m512 x, __m512i rounded) {
  const __m512i upper = _mm512_and_si512(rounded, _mm512_set1_epi32(kPartMask));
  const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(upper));
  return _mm512_castps_si512(_mm512_mul_ps(rest, _mm512_set1_ps(1.00276F)));
}

/// Row `row` of the tiles of both parts.
[[gnu::always_inline]] inline void StoreParts(__m512 low, __m512 high, std::int64_t row,
                                              std::uint16_t* tiles) {
  std::uint16_t* const to = tiles + row * kSplitStep;
  const __m512i low_rounded = Rounded(low);
  const __m512i high_rounded = Rounded(high);
  _mm512_store_si512(to, Pairs(low_rounded, high_rounded));
  _mm512_store_si512(to + kSplitTile,
                     Pairs(RoundedRest(low, low_rounded), RoundedRest(high, high_rounded)));
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

void SplitRowsOf(const SplitRows& rows, std::uint16_t* tiles) {
  const __mmask16 low = FirstLanes(rows.lanes[0]);
  const __mmask16 high = FirstLanes(rows.lanes[1]);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    StoreParts(LoadGroup(rows, 0, r, low), LoadGroup(rows, 1, r, high), r, tiles);
  }
}

/// Rows of tiles that are split at a time, each of which is of two rows of a panel.
constexpr std::int64_t kPieceRows = 4;

/// How the numbers of a panel are stored: groups of kRows rows, and a header before every
/// kIntegerBlock rows.
template <PanelNumbers kNumbers>
struct PanelGroups {
  using Number = std::conditional_t<kNumbers == PanelNumbers::kFloat, float, std::uint16_t>;
  static constexpr std::int64_t kRows = 1;
  static constexpr std::int64_t kSize = kSplitGroup;  ///< numbers from one group to the next
  static constexpr std::int64_t kHeader = 0;          ///< numbers

  /// Loads rows of one of the two groups of a step.
  [[gnu::always_inline]] static void Load(const Number* from, const Number* /*header*/,
                                          __m512 (&rows)[kPieceRows]) {
    for (std::int64_t r = 0; r < kPieceRows; ++r) rows[r] = Avx512::Load(from + r * kSplitGroup);
  }
};

/// See short_floats.hpp.
template <>
struct PanelGroups<PanelNumbers::kShort> {
  using Number = std::uint32_t;
  static constexpr std::int64_t kRows = 4;
  static constexpr std::int64_t kSize = 3 * kSplitGroup;
  static constexpr std::int64_t kHeader = 0;

  [[gnu::always_inline]] static void Load(const Number* from, const Number* /*header*/,
                                          __m512 (&rows)[kPieceRows]) {
    Avx512::EachShort(from,
                      [&](auto r, __m512 numbers) [[gnu::always_inline]] { rows[r] = numbers; });
  }
};

/// See quantized/pack_integers.hpp; the header has the scales of the columns.
template <>
struct PanelGroups<PanelNumbers::kInteger> {
  using Number = std::uint32_t;
  static constexpr std::int64_t kRows = 2;
  static constexpr std::int64_t kSize = kSplitGroup;
  static constexpr std::int64_t kHeader = kSplitGroup;

  [[gnu::always_inline]] static void Load(const Number* from, const Number* header,
                                          __m512 (&rows)[kPieceRows]) {
    const __m512 scales = _mm512_loadu_ps(header);
    for (std::int64_t r = 0; r < kPieceRows; r += kRows, from += kSize) {
      const __m512i words = _mm512_loadu_si512(from);
      const __m512i even = _mm512_srai_epi32(_mm512_slli_epi32(words, 16), 16);
      rows[r] = _mm512_mul_ps(_mm512_cvtepi32_ps(even), scales);
      rows[r + 1] = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_srai_epi32(words, 16)), scales);
    }
  }
};

/// Bytes from those that are split to those that are fetched: as long as the third-level cache
/// takes. Fetching more of them at a time would keep tiles from being loaded.
constexpr std::int64_t kAhead = 3072;
constexpr std::int64_t kLine = 64;

[[gnu::always_inline]] inline void FetchLine(const void* from, std::int64_t ahead) {
  __builtin_prefetch(static_cast<const char*>(from) + ahead, 0, 2);
}

/// Reads a panel from the beginning of a part of the depth on, a step after the other.
template <PanelNumbers kNumbers>
class PanelSteps {
  using Groups = PanelGroups<kNumbers>;

 public:
  using Number = typename Groups::Number;

  /// Numbers of so many rows of a step, and a part of one.
  static constexpr std::int64_t NumbersOf(std::int64_t rows) {
    return (rows + Groups::kRows - 1) / Groups::kRows * Groups::kSize;
  }

  PanelSteps() = default;
  explicit PanelSteps(const void* panel)
      : header_(static_cast<const Number*>(panel)), step_(header_ + Groups::kHeader) {}

  [[gnu::always_inline]] void Next() {
    step_ += NumbersOf(kSplitStep);
    if (Groups::kHeader == 0 || step_ < header_ + Groups::kHeader + NumbersOf(kIntegerBlock)) {
      return;
    }
    header_ = step_;
    step_ += Groups::kHeader;
  }

  /// Fetches what lies so far behind what Split reads: most often of the same panel or of that
  /// behind it.
  [[gnu::always_inline]] void Fetch(std::int64_t row) const {
    for (std::int64_t at = kAhead; at < kAhead + kPieceBytes; at += kLine) {
      FetchLine(Low(row), at);
      FetchLine(High(row), at);
    }
  }

  /// Writes kPieceRows rows of the tiles of both parts of the step, from `row` on.
  [[gnu::always_inline]] void Split(std::int64_t row, std::uint16_t* tiles) const {
    __m512 low[kPieceRows];
    __m512 high[kPieceRows];
    Groups::Load(Low(row), header_, low);
    Groups::Load(High(row), header_, high);
    for (std::int64_t r = 0; r < kPieceRows; ++r) StoreParts(low[r], high[r], row + r, tiles);
  }

  /// A step of which there are only the first `rows` rows is read from `copy`, with zeros behind.
  struct Copy {
    alignas(64) Number numbers[NumbersOf(kSplitStep)];
  };
  void EndIn(std::int64_t rows, Copy& copy) {
    const std::int64_t left = NumbersOf(rows);
    for (std::int64_t i = 0; i < NumbersOf(kSplitStep); ++i) {
      copy.numbers[i] = i < left ? step_[i] : Number{};
    }
    step_ = copy.numbers;
  }

 private:
  static constexpr std::int64_t kPieceBytes = NumbersOf(kPieceRows) * std::int64_t{sizeof(Number)};

  /// Where row `row` of the first group of the step begins, and of the second.
  [[gnu::always_inline]] const Number* Low(std::int64_t row) const {
    return step_ + NumbersOf(row);
  }
  [[gnu::always_inline]] const Number* High(std::int64_t row) const {
    return Low(row) + NumbersOf(kSplitGroup);
  }

  const Number* header_ = nullptr;
  const Number* step_ = nullptr;
};

/// What a tap of a TransformedPanel is the sum of.
struct TapTerms {
  int count;
  int elements[4];
  float signs[4];
};
constexpr TapTerms kTapTerms[] = {{1, {0}, {1}},
                                  {2, {1, 2}, {-1, 1}},
                                  {1, {3}, {-1}},
                                  {2, {4, 8}, {-1, 1}},
                                  {4, {5, 6, 9, 10}, {1, -1, -1, 1}},
                                  {2, {7, 11}, {1, -1}},
                                  {1, {12}, {-1}},
                                  {2, {13, 14}, {1, -1}},
                                  {1, {15}, {1}}};

/// A tap of 16 rows of a TransformedPanel.
class TransformedGroup {
 public:
  TransformedGroup() = default;
  TransformedGroup(const TransformedPanel& panel, std::int64_t group)
      : terms_(&kTapTerms[group % std::size(kTapTerms)]),
        block_(panel.elements + group / static_cast<std::int64_t>(std::size(kTapTerms)) * kRows16),
        stride_(panel.stride) {}

  /// Nothing is zeros.
  [[gnu::always_inline]] void Load(std::int64_t row, __m512 (&rows)[kPieceRows]) const {
    if (terms_ == nullptr) return Sum<0>(row, rows);
    if (terms_->count == 1) return Sum<1>(row, rows);
    if (terms_->count == 2) return Sum<2>(row, rows);
    Sum<4>(row, rows);
  }

 private:
  static constexpr std::int64_t kPiece = 3 * kSplitGroup;  ///< words of kPieceRows rows
  static constexpr std::int64_t kRows16 = kSplitGroup / kPieceRows * kPiece;
  static constexpr std::int64_t kBlocksAhead = 2;

  template <int kTerms>
  [[gnu::always_inline]] void Sum(std::int64_t row, __m512 (&rows)[kPieceRows]) const {
    for (__m512& sum : rows) sum = _mm512_setzero_ps();
#pragma GCC unroll 4
    for (int i = 0; i < kTerms; ++i) {
      const __m512 sign = _mm512_set1_ps(terms_->signs[i]);
      const std::uint32_t* const lines =
          block_ + terms_->elements[i] * stride_ + row / kPieceRows * kPiece;
      for (std::int64_t line = 0; line < 3; ++line) {
        FetchLine(lines, (kBlocksAhead * kRows16 + line * kSplitGroup) * 4);
      }
      Avx512::EachShort(lines, [&](auto r, __m512 numbers) [[gnu::always_inline]] {
        rows[r] = _mm512_fmadd_ps(numbers, sign, rows[r]);
      });
    }
  }

  const TapTerms* terms_ = nullptr;
  const std::uint32_t* block_ = nullptr;
  std::int64_t stride_ = 0;
};

template <>
class PanelSteps<PanelNumbers::kTransformed> {
 public:
  PanelSteps() = default;
  explicit PanelSteps(const void* panel)
      : panel_(*static_cast<const TransformedPanel*>(panel)), group_(panel_.group) {
    Find();
  }

  [[gnu::always_inline]] void Next() {
    group_ += 2;
    Find();
  }

  /// Split does.
  void Fetch(std::int64_t /*row*/) const {}

  [[gnu::always_inline]] void Split(std::int64_t row, std::uint16_t* tiles) const {
    __m512 low[kPieceRows];
    __m512 high[kPieceRows];
    low_.Load(row, low);
    high_.Load(row, high);
    for (std::int64_t r = 0; r < kPieceRows; ++r) StoreParts(low[r], high[r], row + r, tiles);
  }

  struct Copy {};
  void EndIn(std::int64_t /*rows*/, Copy&) { high_ = {}; }  // groups are whole

 private:
  void Find() {
    low_ = TransformedGroup(panel_, group_);
    high_ = TransformedGroup(panel_, group_ + 1);
  }

  TransformedPanel panel_{};
  std::int64_t group_ = 0;
  TransformedGroup low_;
  TransformedGroup high_;
};

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
    case PanelNumbers::kShort:
      return SplitPanelOf<PanelNumbers::kShort>(panel, depth, tiles);
    case PanelNumbers::kInteger:
      return SplitPanelOf<PanelNumbers::kInteger>(panel, depth, tiles);
    case PanelNumbers::kTransformed:
      return SplitPanelOf<PanelNumbers::kTransformed>(panel, depth, tiles);
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

void Start() { ShapeTiles(kSplitRows, kSplitRows); }
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
    if (shapes) Start();
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
    case PanelNumbers::kShort:
      return MultiplyBefore<PanelNumbers::kShort>(product);
    case PanelNumbers::kInteger:
      return MultiplyBefore<PanelNumbers::kInteger>(product);
    case PanelNumbers::kTransformed:
      return MultiplyBefore<PanelNumbers::kTransformed>(product);
  }
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
