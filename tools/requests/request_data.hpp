#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model_runtime/Tensor.hpp"
#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::requests {

/// The memory of one request, aligned to 64 bytes as the runtime's own, and the views that name it.
struct Request {
  Request() = default;
  Request(Request&&) = default;
  Request& operator=(Request&&) = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Adds an input of zeros and returns its memory.
  std::span<std::byte> AddInput(const runtime::DataDesc& desc);
  void AddOutput(const runtime::DataDesc& desc);

  runtime::InputMemoryView inputs;
  runtime::OutputMemoryView outputs;

 private:
  std::span<std::byte> Allocate(std::size_t bytes);

  std::vector<model_runtime::TensorMemory> memory_;
};

/// Floats in [0, 1), integers and bools 0 or 1, so that they are valid indices. The same for the
/// same seed.
void FillRandom(popef::DataType type, std::uint32_t seed, std::span<std::byte> memory);

/// Ones.
void FillOnes(popef::DataType type, std::span<std::byte> memory);

}  // namespace poprt::requests
