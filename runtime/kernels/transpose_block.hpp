#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace poprt::kernels {

/// Four rows of four elements of four bytes become columns. Steps are in bytes.
inline void TransposeFour(std::byte* to, std::int64_t to_step, const std::byte* from,
                          std::int64_t from_step) {
  using Words = std::uint32_t __attribute__((vector_size(16)));
  Words rows[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&rows[i], from + i * from_step, sizeof(Words));
  const Words low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Words low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Words high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Words high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Words columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                            __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                            __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                            __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_step, &columns[i], sizeof(Words));
}

/// The same of eight rows, for loops that are compiled for registers of 32 bytes: rows i and i + 4
/// are the halves of one.
[[gnu::always_inline]] inline void TransposeEight(std::byte* to, std::int64_t to_step,
                                                  const std::byte* from, std::int64_t from_step) {
  using Words = std::uint32_t __attribute__((vector_size(16)));
  using Pairs = std::uint32_t __attribute__((vector_size(32)));
  Pairs rows[4];
  for (int i = 0; i < 4; ++i) {
    Words low;
    Words high;
    std::memcpy(&low, from + i * from_step, sizeof(Words));
    std::memcpy(&high, from + (i + 4) * from_step, sizeof(Words));
    rows[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  const Pairs low01 = __builtin_shufflevector(rows[0], rows[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const Pairs low23 = __builtin_shufflevector(rows[2], rows[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const Pairs high01 = __builtin_shufflevector(rows[0], rows[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const Pairs high23 = __builtin_shufflevector(rows[2], rows[3], 2, 10, 3, 11, 6, 14, 7, 15);
  const Pairs columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13),
                            __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15),
                            __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13),
                            __builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_step, &columns[i], sizeof(Pairs));
}

/// to[column * to_step + row] = from[row * from_step + column]; steps are in elements.
template <typename T>
void TransposeBlock(const T* from, std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                    T* to, std::int64_t to_step) {
  std::int64_t row = 0;
  if constexpr (sizeof(T) == 4) {
    for (; row + 4 <= rows; row += 4) {
      std::int64_t column = 0;
      for (; column + 4 <= columns; column += 4) {
        TransposeFour(reinterpret_cast<std::byte*>(to + column * to_step + row), to_step * 4,
                      reinterpret_cast<const std::byte*>(from + row * from_step + column),
                      from_step * 4);
      }
      for (; column < columns; ++column) {
        for (std::int64_t i = row; i < row + 4; ++i) {
          to[column * to_step + i] = from[i * from_step + column];
        }
      }
    }
  }
  for (; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      to[column * to_step + row] = from[row * from_step + column];
    }
  }
}

/// The lower, or the upper, halves of two vectors of 16 bytes, element by element in turn.
template <bool kUpper, typename Vector>
Vector Interleave(Vector a, Vector b) {
  if constexpr (sizeof(a[0]) == 2) {
    if constexpr (kUpper) return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  } else {
    if constexpr (kUpper) {
      return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                     31);
    }
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
}

using ByteRow = std::uint8_t __attribute__((vector_size(16)));
using HalfRow = std::uint16_t __attribute__((vector_size(16)));

/// The same as TransposeFour for a square of as many Rows as these have elements.
template <typename Row>
void TransposeSquare(std::byte* to, std::int64_t to_step, const std::byte* from,
                     std::int64_t from_step) {
  constexpr int kRows = sizeof(Row) / sizeof(Row{}[0]);
  Row rows[kRows];
  for (int i = 0; i < kRows; ++i) std::memcpy(&rows[i], from + i * from_step, sizeof(Row));
  // Each time, the halves of two rows that are half the rows apart become neighbours.
  for (int step = 1; step < kRows; step *= 2) {
    Row next[kRows];
    for (int i = 0; i < kRows / 2; ++i) {
      next[2 * i] = Interleave<false>(rows[i], rows[i + kRows / 2]);
      next[2 * i + 1] = Interleave<true>(rows[i], rows[i + kRows / 2]);
    }
    for (int i = 0; i < kRows; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < kRows; ++i) std::memcpy(to + i * to_step, &rows[i], sizeof(Row));
}

}  // namespace poprt::kernels
