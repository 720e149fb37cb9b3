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

}  // namespace poprt::kernels
