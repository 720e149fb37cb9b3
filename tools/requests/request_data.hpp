#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::requests {

/// The memory of one request and the views that name it.
struct Request {
  Request() = default;
  Request(Request&&) = default;
  Request& operator=(Request&&) = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Adds an input of zeros and returns its memory.
  std::vector<std::byte>& AddInput(const runtime::DataDesc& desc);
  void AddOutput(const runtime::DataDesc& desc);

  runtime::InputMemoryView inputs;
  runtime::OutputMemoryView outputs;

 private:
  std::vector<std::vector<std::byte>> memory_;
};

/// Floats in [0, 1), integers and bools 0 or 1, so that they are valid indices. The same for the
/// same seed.
void FillRandom(popef::DataType type, std::uint32_t seed, std::vector<std::byte>& memory);

/// Ones.
void FillOnes(popef::DataType type, std::vector<std::byte>& memory);

}  // namespace poprt::requests
