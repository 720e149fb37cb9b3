#pragma once

#include <immintrin.h>

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/matrix_unit/split_parts_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

// How panels of all PanelNumbers are read, a step of the depth after the other, and split.
// Included only by files that are compiled for AVX-512, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

/// Rows of tiles that are split at a time, each of which is of two rows of a panel.
constexpr std::int64_t kPieceRows = 4;

/// How the numbers of a panel are stored: groups of kRows rows, and a header before every
/// kScaledBlock rows.
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

/// See scaled_panels.hpp; the header has the scales of the columns.
template <>
struct PanelGroups<PanelNumbers::kScaled> {
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
    if (Groups::kHeader == 0 || step_ < header_ + Groups::kHeader + NumbersOf(kScaledBlock)) {
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

template <>
class PanelSteps<PanelNumbers::kRows> {
 public:
  PanelSteps() = default;
  explicit PanelSteps(const void* panel) : PanelSteps(*static_cast<const RowsPanel*>(panel)) {}

  [[gnu::always_inline]] void Next() { first_ += kSplitStep * stride_; }

  /// The same rows of the panels behind these, which two may be multiplied by at once.
  [[gnu::always_inline]] void Fetch(std::int64_t row) const {
    constexpr std::int64_t kPanelsAhead = kSplitPanels * kSplitGroup * std::int64_t{sizeof(float)};
    for (std::int64_t r = row; r < row + kPieceRows; ++r) {
      FetchLine(first_ + r * stride_, kPanelsAhead);
      FetchLine(first_ + (r + kSplitGroup) * stride_, kPanelsAhead);
    }
  }

  [[gnu::always_inline]] void Split(std::int64_t row, std::uint16_t* tiles) const {
    for (std::int64_t r = row; r < row + kPieceRows; ++r) {
      StoreParts(Row(r), Row(r + kSplitGroup), r, tiles);
    }
  }

  struct Copy {
    alignas(64) float numbers[kSplitStep * kSplitGroup];
  };
  void EndIn(std::int64_t rows, Copy& copy) {
    for (std::int64_t r = 0; r < kSplitStep; ++r) {
      _mm512_store_ps(copy.numbers + r * kSplitGroup, r < rows ? Row(r) : _mm512_setzero_ps());
    }
    first_ = copy.numbers;
    stride_ = kSplitGroup;
  }

 private:
  explicit PanelSteps(const RowsPanel& panel)
      : first_(panel.first),
        stride_(panel.stride),
        lanes_(static_cast<__mmask16>((1U << panel.columns) - 1)) {}

  [[gnu::always_inline]] __m512 Row(std::int64_t row) const {
    return _mm512_maskz_loadu_ps(lanes_, first_ + row * stride_);
  }

  const float* first_ = nullptr;
  std::int64_t stride_ = 0;
  __mmask16 lanes_ = 0;
};

/// A tap of 16 channels of a TransformedPanel.
class TransformedGroup {
 public:
  TransformedGroup() = default;
  TransformedGroup(const TransformedPanel& panel, std::int64_t group)
      : tap_(&panel.taps[group % panel.tap_count]),
        elements_(panel.elements),
        stride_(panel.stride),
        are_scaled_(panel.are_scaled),
        row_(tap_->first_row + group / panel.tap_count * kSplitGroup),
        rows_(panel.channels - group / panel.tap_count * kSplitGroup) {}

  /// Nothing is zeros.
  [[gnu::always_inline]] void Load(std::int64_t row, __m512 (&rows)[kPieceRows]) const {
    for (__m512& sum : rows) sum = _mm512_setzero_ps();
    if (tap_ == nullptr) return;
    if (are_scaled_) return Sum<Scaled>(row, rows);
    Sum<Floats>(row, rows);
  }

 private:
  static constexpr std::int64_t kGroupsAhead = 3;

  struct Scaled {
    using Groups = PanelGroups<PanelNumbers::kScaled>;
    static constexpr std::int64_t kGroupWords = kSplitGroup / Groups::kRows * kSplitGroup;
    static constexpr std::int64_t kBlockWords = (1 + kScaledBlock / Groups::kRows) * kSplitGroup;
    static constexpr std::int64_t kLines = kPieceRows / Groups::kRows;

    [[gnu::always_inline]] static const std::uint32_t* Load(const std::uint32_t* element,
                                                            std::int64_t row, std::int64_t /*rows*/,
                                                            __m512 (&numbers)[kPieceRows]) {
      const std::uint32_t* const header = element + row / kScaledBlock * kBlockWords;
      const std::uint32_t* const lines =
          header + (1 + row % kScaledBlock / Groups::kRows) * kSplitGroup;
      Groups::Load(lines, header, numbers);
      return lines;
    }
  };

  struct Floats {
    static constexpr std::int64_t kGroupWords = kSplitGroup * kSplitGroup;
    static constexpr std::int64_t kLines = kPieceRows;

    [[gnu::always_inline]] static const std::uint32_t* Load(const std::uint32_t* element,
                                                            std::int64_t row, std::int64_t rows,
                                                            __m512 (&numbers)[kPieceRows]) {
      const std::uint32_t* const lines = element + row * kSplitGroup;
      for (std::int64_t r = 0; r < kPieceRows; ++r) {
        const auto lanes = static_cast<__mmask16>(r < rows ? 0xFFFF : 0);
        numbers[r] = _mm512_maskz_loadu_ps(lanes, lines + r * kSplitGroup);
      }
      return lines;
    }
  };

  template <class Numbers>
  [[gnu::always_inline]] void Sum(std::int64_t row, __m512 (&rows)[kPieceRows]) const {
    for (int i = 0; i < tap_->count; ++i) {
      const __m512 factor = _mm512_set1_ps(tap_->factors[i]);
      __m512 numbers[kPieceRows];
      const std::uint32_t* const lines =
          Numbers::Load(elements_ + tap_->elements[i] * stride_, row_ + row, rows_ - row, numbers);
      for (std::int64_t line = 0; line < Numbers::kLines; ++line) {
        FetchLine(lines, (kGroupsAhead * Numbers::kGroupWords + line * kSplitGroup) * 4);
      }
      for (std::int64_t r = 0; r < kPieceRows; ++r) {
        rows[r] = _mm512_fmadd_ps(numbers[r], factor, rows[r]);
      }
    }
  }

  const TransformedTap* tap_ = nullptr;
  const std::uint32_t* elements_ = nullptr;
  std::int64_t stride_ = 0;
  bool are_scaled_ = false;
  std::int64_t row_ = 0;   ///< of an element, the first one
  std::int64_t rows_ = 0;  ///< those behind them are zeros
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

}  // namespace
}  // namespace poprt::kernels
