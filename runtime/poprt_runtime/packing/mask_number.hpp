#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "popef/Types.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::runtime {

/// Writes a small number as an element of that type, which is one that a packed mask or unpack_info
/// can have.
inline void WriteNumber(popef::DataType type, std::uint64_t number, std::byte* to) {
  const auto store = [to](const auto& element) { std::memcpy(to, &element, sizeof(element)); };
  switch (type) {
    case popef::DataType::F16:
      return store(Float16(static_cast<float>(number)).bits);
    case popef::DataType::BF16:
      return store(BFloat16(static_cast<float>(number)).bits);
    case popef::DataType::F32:
      return store(static_cast<float>(number));
    case popef::DataType::F64:
      return store(static_cast<double>(number));
    case popef::DataType::S64:
    case popef::DataType::U64:
      return store(number);
    case popef::DataType::S32:
    case popef::DataType::U32:
      return store(static_cast<std::uint32_t>(number));
    case popef::DataType::S16:
    case popef::DataType::U16:
      return store(static_cast<std::uint16_t>(number));
    default:
      return store(static_cast<std::uint8_t>(number));
  }
}

}  // namespace poprt::runtime
