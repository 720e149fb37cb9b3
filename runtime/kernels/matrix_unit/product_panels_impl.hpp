#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/matrix_unit/matrix_unit.hpp"
#include "runtime/kernels/matrix_unit/panel_steps_impl.hpp"

// Where a product finds the tiles of its panels, and what is split while the unit multiplies.
// Included only by files that are compiled for AVX-512, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

/// Pieces in which a step of a panel is split.
constexpr int kPieces = kSplitGroup / kPieceRows;

/// One of the kSplitProducts products of parts in a step.
template <int kNumber>
using ProductOfStep = std::integral_constant<int, kNumber>;

/// Panels that have been split. The next ones are, bit by bit: the matrix unit works on its own
/// meanwhile, and the processor fetches what comes next as evenly as it is read.
template <PanelNumbers kNumbers>
class PanelsSplitBefore {
  using Steps = PanelSteps<kNumbers>;

 public:
  /// Some is called `times` times.
  PanelsSplitBefore(const SplitProduct& product, std::int64_t times)
      : b_(product.b),
        stride_(product.steps * kSplitStepNumbers),
        second_(product.split.panels[1]),
        tiles_(product.next_tiles),
        pieces_of_panel_(product.split.depth / kSplitStep * kPieces),
        left_(product.split.count * pieces_of_panel_),
        pieces_(left_),
        times_(times) {
    if (left_ > 0) steps_ = Steps(product.split.panels[0]);
  }

  /// The tiles of a step of the first panel, and numbers from there to the second.
  const std::uint16_t* Tiles(std::int64_t step) const { return b_ + step * kSplitStepNumbers; }
  std::int64_t Stride() const { return stride_; }

  /// Splits some of what is to be split; called for each product of parts in a step, and Next
  /// behind them.
  template <int kNumber>
  [[gnu::always_inline]] void Some(ProductOfStep<kNumber> /*number*/) {
    for (due_ += pieces_; due_ >= times_; due_ -= times_) Piece();
  }
  void Next() {}

 private:
  [[gnu::always_inline]] void Piece() {
    steps_.Fetch(row_);
    steps_.Split(row_, tiles_);
    --left_;
    row_ += kPieceRows;
    if (row_ < kSplitGroup) return;
    row_ = 0;
    tiles_ += kSplitStepNumbers;
    if (left_ == pieces_of_panel_) {
      steps_ = Steps(second_);
    } else {
      steps_.Next();
    }
  }

  const std::uint16_t* b_;
  std::int64_t stride_;
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

/// Panels that few rows meet: each step is split while that before it is multiplied. Both stay in
/// the nearest cache: what is written farther away keeps tiles from being loaded.
template <int kPanels, PanelNumbers kNumbers>
class PanelsSplitMeanwhile {
  using Steps = PanelSteps<kNumbers>;

 public:
  explicit PanelsSplitMeanwhile(const PanelsToSplit& panels) : left_(panels.depth) {
    for (int i = 0; i < kPanels; ++i) steps_[i] = Steps(panels.panels[i]);
    End();
    Pieces<0, kPanels * kPieces>();
    Next();
  }

  /// As of PanelsSplitBefore.
  const std::uint16_t* Tiles(std::int64_t step) const {
    // g++ 12 does not know that tiles are loaded from there.
    __asm__ volatile("" : : "m"(tiles_));
    return tiles_[step % 2];
  }
  std::int64_t Stride() const { return kSplitStepNumbers; }

  template <int kNumber>
  [[gnu::always_inline]] void Some(ProductOfStep<kNumber> /*number*/) {
    constexpr int kAll = kPanels * kPieces;
    if (left_ > 0) Pieces<kNumber * kAll / kSplitProducts, (kNumber + 1) * kAll / kSplitProducts>();
  }

  [[gnu::always_inline]] void Next() {
    slot_ = 1 - slot_;
    left_ -= kSplitStep;
    if (left_ <= 0) return;
    for (Steps& steps : steps_) steps.Next();
    End();
  }

 private:
  void End() {
    if (left_ >= kSplitStep) return;
    for (int i = 0; i < kPanels; ++i) steps_[i].EndIn(left_, last_[i]);
  }

  template <int kBegin, int kEnd>
  [[gnu::always_inline]] void Pieces() {
#pragma GCC unroll 8
    for (int i = kBegin; i < kEnd; ++i) {
      const Steps& steps = steps_[i / kPieces];
      const std::int64_t row = i % kPieces * kPieceRows;
      steps.Fetch(row);
      steps.Split(row, tiles_[slot_] + i / kPieces * kSplitStepNumbers);
    }
  }

  alignas(64) std::uint16_t tiles_[2][kPanels * kSplitStepNumbers];  ///< of two steps, in turns
  Steps steps_[kPanels];
  typename Steps::Copy last_[kPanels];
  std::int64_t left_;  ///< rows of the depth from the step that is being split on
  int slot_ = 0;       ///< where it goes
};

}  // namespace
}  // namespace poprt::kernels
