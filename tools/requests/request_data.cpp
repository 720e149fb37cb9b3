#include "tools/requests/request_data.hpp"

#include <cstring>
#include <random>

#include "runtime/tensor/half.hpp"

namespace poprt::requests {
namespace {

using popef::DataType;

template <typename T, typename Next>
void FillWith(std::span<std::byte> memory, Next next) {
  for (std::size_t at = 0; at + sizeof(T) <= memory.size(); at += sizeof(T)) {
    const T element = static_cast<T>(next());
    std::memcpy(memory.data() + at, &element, sizeof(T));
  }
}

/// `real` makes floats, `whole` makes integers.
template <typename Real, typename Whole>
void Fill(DataType type, std::span<std::byte> memory, Real real, Whole whole) {
  switch (type) {
    case DataType::F32:
      return FillWith<float>(memory, real);
    case DataType::F64:
      return FillWith<double>(memory, real);
    case DataType::F16:
      return FillWith<std::uint16_t>(memory, [&] { return Float16(real()).bits; });
    case DataType::BF16:
      return FillWith<std::uint16_t>(memory, [&] { return BFloat16(real()).bits; });
    case DataType::S16:
    case DataType::U16:
      return FillWith<std::uint16_t>(memory, whole);
    case DataType::S32:
    case DataType::U32:
      return FillWith<std::uint32_t>(memory, whole);
    case DataType::S64:
    case DataType::U64:
      return FillWith<std::uint64_t>(memory, whole);
    default:
      return FillWith<std::uint8_t>(memory, whole);
  }
}

}  // namespace

std::span<std::byte> Request::Allocate(std::size_t bytes) {
  const auto& memory = memory_.emplace_back(static_cast<std::int64_t>(bytes));
  return {static_cast<std::byte*>(memory.data.get()), bytes};
}

std::span<std::byte> Request::AddInput(const runtime::DataDesc& desc) {
  const std::span<std::byte> memory = Allocate(desc.sizeInBytes);
  inputs[desc.name] = {memory.data(), memory.size()};
  return memory;
}

void Request::AddOutput(const runtime::DataDesc& desc) {
  const std::span<std::byte> memory = Allocate(desc.sizeInBytes);
  outputs[desc.name] = {memory.data(), memory.size()};
}

void FillRandom(DataType type, std::uint32_t seed, std::span<std::byte> memory) {
  std::mt19937 random(seed);
  Fill(
      type, memory, [&] { return static_cast<float>(random() >> 8) * 0x1p-24F; },
      [&] { return random() & 1U; });
}

void FillOnes(DataType type, std::span<std::byte> memory) {
  Fill(
      type, memory, [] { return 1.0F; }, [] { return 1U; });
}

}  // namespace poprt::requests
