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
/// second; 4 and 5 tiles of A; 6 and 7 of B.
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

}  // namespace
}  // namespace poprt::kernels
