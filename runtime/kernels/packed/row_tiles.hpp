#pragma once

#include <cstdint>

#include "runtime/kernels/packed/tile_sizes.hpp"

namespace poprt::kernels {

/// The next number of panels that whole tiles compute.
inline std::int64_t WholeTilePanels(std::int64_t panels) {
  return (panels + kTilePanels - 1) / kTilePanels * kTilePanels;
}

/// Cuts rows of packed weights into register tiles, and pixels into the units of block sizes: six
/// each, and as few narrower ones as possible that are not slow, which is why 8 is 4 + 4 and not
/// 6 + 2. Part of the layout of packed convolution weights: changing it changes the container
/// format.
class RowTiles {
 public:
  explicit RowTiles(std::int64_t rows) : rows_(rows) {
    sixes_ = rows / kTileRows;
    rest_ = rows % kTileRows;
    const std::int64_t borrowed = rest_ == 0 || rest_ >= 4 ? 0 : rest_ == 1 ? 2 : 1;
    const std::int64_t taken = borrowed < sixes_ ? borrowed : sixes_;
    sixes_ -= taken;
    rest_ += taken * kTileRows;
  }

  std::int64_t rows() const { return rows_; }

  /// Number of tiles.
  std::int64_t count() const { return sixes_ + (rest_ + kTileRows - 2) / (kTileRows - 1); }

  /// First row of tile i; rows() for i == count().
  std::int64_t begin(std::int64_t i) const {
    if (i <= sixes_) return i * kTileRows;
    const std::int64_t tiles = count() - sixes_;
    return sixes_ * kTileRows + (rest_ * (i - sixes_) + tiles - 1) / tiles;
  }

  /// Rows of tile i, 1 to kTileRows.
  std::int64_t size(std::int64_t i) const { return begin(i + 1) - begin(i); }

 private:
  std::int64_t rows_;
  std::int64_t sixes_ = 0;  ///< full tiles, which come first
  std::int64_t rest_ = 0;   ///< rows of the narrower tiles
};

/// Cuts a block of rows into register tiles of at most `largest` rows, as even as they can be.
/// Tiles of up to three rows sum in several chains, for which reason there are such only where all
/// processors have them: seven rows are 4 + 3 everywhere.
class RegisterTiles {
 public:
  RegisterTiles(std::int64_t rows, std::int64_t largest) : rows_(rows) {
    if (rows == kTileRows + 1 && largest > kTileRows) largest = kTileRows;
    count_ = (rows + largest - 1) / largest;
    if (count_ == 0) return;
    size_ = rows / count_;
    larger_ = rows % count_;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t count() const { return count_; }
  /// First row of tile i.
  std::int64_t begin(std::int64_t i) const { return i * size_ + (i < larger_ ? i : larger_); }
  /// Rows of tile i.
  int size(std::int64_t i) const { return static_cast<int>(size_ + (i < larger_ ? 1 : 0)); }

 private:
  std::int64_t rows_;
  std::int64_t count_ = 0;
  std::int64_t size_ = 0;
  std::int64_t larger_ = 0;  ///< tiles, which come first, of one row more
};

}  // namespace poprt::kernels
