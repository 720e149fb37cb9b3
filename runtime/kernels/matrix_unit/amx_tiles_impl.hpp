#pragma once

#include <immintrin.h>

#include <cstdint>

// The registers of AMX as all products use them: up to two tiles of rows by two of columns.
// Included only by files that are compiled for it, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

/// Rows of a tile, and bytes of each.
constexpr std::int64_t kTileRowsOfUnit = 16;
constexpr int kRowBytes = 64;

/// What LDTILECFG reads: 0 to 3 are sums, by the columns of the first tile of rows and of the
/// second, or by one column of four; 4 and 5 tiles of A; 6 and 7 of B.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// For two tiles of so many rows, or one, whose rows have `words` of four bytes in A.
inline void ShapeTiles(std::int64_t first_rows, std::int64_t second_rows,
                       std::int64_t words = kTileRowsOfUnit) {
  TileShapes shapes;
  const std::int64_t second = second_rows == 0 ? kTileRowsOfUnit : second_rows;
  const std::int64_t rows[] = {first_rows, first_rows, second, second,
                               first_rows, second,     words,  words};
  for (int i = 0; i < 8; ++i) {
    const bool is_a = i == 4 || i == 5;
    shapes.row_bytes[i] = static_cast<std::uint16_t>(is_a ? 4 * words : kRowBytes);
    shapes.rows[i] = static_cast<std::uint8_t>(rows[i]);
  }
  // g++ 12 believes that the instruction reads the first eight bytes only.
  __asm__ volatile("" : : "m"(shapes));
  _tile_loadconfig(&shapes);
}

/// The shapes that tiles have now. Other shapes clear them and take as long as twenty products,
/// which is why none are asked for twice.
class ShapedTiles {
 public:
  ~ShapedTiles() { _tile_release(); }

  /// As ShapeTiles.
  void Shape(std::int64_t first_rows, std::int64_t second_rows,
             std::int64_t words = kTileRowsOfUnit) {
    if (second_rows == 0) second_rows = kTileRowsOfUnit;
    if (first_rows == first_rows_ && second_rows == second_rows_ && words == words_) return;
    ShapeTiles(first_rows, second_rows, words);
    first_rows_ = first_rows;
    second_rows_ = second_rows;
    words_ = words;
  }

 private:
  std::int64_t first_rows_ = 0;
  std::int64_t second_rows_ = 0;
  std::int64_t words_ = 0;
};

/// Keeps awake what stores tiles, which falls asleep after some 2000 cycles without a store and
/// takes 900 to wake up, measured on a Xeon of the sixth generation: as long as 56 products.
class AwakeStores {
 public:
  /// Tile 6 holds any numbers, as many as its shape says.
  [[gnu::always_inline]] void Keep() { _tile_stored(6, unused_, kRowBytes); }

 private:
  alignas(64) std::uint8_t unused_[kTileRowsOfUnit * kRowBytes];
};

/// Where up to two tiles of rows by two of columns of sums lie: bytes from a row to the next, and
/// from the first tile to the second of each kind.
struct SumsLayout {
  std::int64_t row;
  std::int64_t rows;
  std::int64_t columns;
};

template <int kTiles, int kPanels>
[[gnu::always_inline]] inline void LoadSums(const void* sums, const SumsLayout& layout) {
  const auto* const first = static_cast<const char*>(sums);
  const char* const second = first + layout.rows;
  _tile_loadd(0, first, layout.row);
  if constexpr (kPanels == 2) _tile_loadd(1, first + layout.columns, layout.row);
  if constexpr (kTiles == 2) _tile_loadd(2, second, layout.row);
  if constexpr (kTiles == 2 && kPanels == 2) _tile_loadd(3, second + layout.columns, layout.row);
}

template <int kTiles, int kPanels>
[[gnu::always_inline]] inline void StoreSums(void* sums, const SumsLayout& layout) {
  auto* const first = static_cast<char*>(sums);
  char* const second = first + layout.rows;
  _tile_stored(0, first, layout.row);
  if constexpr (kPanels == 2) _tile_stored(1, first + layout.columns, layout.row);
  if constexpr (kTiles == 2) _tile_stored(2, second, layout.row);
  if constexpr (kTiles == 2 && kPanels == 2) _tile_stored(3, second + layout.columns, layout.row);
}

/// As LoadSums and StoreSums, of three or four tiles of rows by one of columns.
template <int kTiles>
[[gnu::always_inline]] inline void LoadColumn(const void* sums, std::int64_t row,
                                              std::int64_t rows) {
  const auto* const first = static_cast<const char*>(sums);
  _tile_loadd(0, first, row);
  _tile_loadd(1, first + rows, row);
  _tile_loadd(2, first + 2 * rows, row);
  if constexpr (kTiles == 4) _tile_loadd(3, first + 3 * rows, row);
}

template <int kTiles>
[[gnu::always_inline]] inline void StoreColumn(void* sums, std::int64_t rows) {
  auto* const first = static_cast<char*>(sums);
  _tile_stored(0, first, kRowBytes);
  _tile_stored(1, first + rows, kRowBytes);
  _tile_stored(2, first + 2 * rows, kRowBytes);
  if constexpr (kTiles == 4) _tile_stored(3, first + 3 * rows, kRowBytes);
}

}  // namespace
}  // namespace poprt::kernels
