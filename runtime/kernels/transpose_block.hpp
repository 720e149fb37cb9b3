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

/// The same as TransposeFour for eight rows of eight elements of two bytes.
inline void TransposeEight(std::byte* to, std::int64_t to_step, const std::byte* from,
                           std::int64_t from_step) {
  using Halves = std::uint16_t __attribute__((vector_size(16)));
  Halves rows[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&rows[i], from + i * from_step, sizeof(Halves));
  // Three times, the lower and the upper halves of two rows four apart become neighbours.
  for (int step = 0; step < 3; ++step) {
    Halves next[8];
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < 8; ++i) std::memcpy(to + i * to_step, &rows[i], sizeof(Halves));
}

}  // namespace poprt::kernels
