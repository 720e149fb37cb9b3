#include "model_runtime/serving/index_input.hpp"

#include <cstdint>
#include <cstring>
#include <optional>

namespace model_runtime {
namespace {

/// The buffer as an unsigned integer of its size; nothing if there is none of that size.
std::optional<std::uint64_t> IntegerOf(const InputBuffer& buffer) {
  std::uint64_t number = 0;
  const bool fits =
      buffer.bytes == 1 || buffer.bytes == 2 || buffer.bytes == 4 || buffer.bytes == 8;
  if (!fits || buffer.data == nullptr) return std::nullopt;
  std::memcpy(&number, buffer.data, buffer.bytes);
  return number;
}

/// The same bits as a signed integer of `bytes` bytes: what a caller who wrote -1 wants to read.
std::int64_t AsSigned(std::uint64_t number, std::uint64_t bytes) {
  const auto unused_bits = static_cast<int>(8 * (sizeof(number) - bytes));
  return static_cast<std::int64_t>(number << unused_bits) >> unused_bits;
}

}  // namespace

IndexedGraph GraphOfIndex(const InputBuffer& index, std::size_t num_graphs) {
  const std::optional<std::uint64_t> number = IntegerOf(index);
  if (!number) {
    return {.problem = "input 'index' has " + std::to_string(index.bytes) +
                       " bytes, allowed is one integer of 1, 2, 4 or 8 bytes"};
  }
  if (*number >= num_graphs) {
    return {.problem = "input 'index' is " + std::to_string(AsSigned(*number, index.bytes)) +
                       ", allowed are 0 to " + std::to_string(num_graphs - 1)};
  }
  return {.index = *number};
}

}  // namespace model_runtime
