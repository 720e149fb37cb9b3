#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace model_runtime {

/// A tensor of a request in user memory.
struct InputBuffer {
  std::string_view name;
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
struct OutputBuffer {
  std::string_view name;
  void* data = nullptr;
  std::uint64_t bytes = 0;
  /// If not null, gets the shape of the result. An output with an open axis needs memory for its
  /// largest shape; the result takes the first bytes of it, densely packed.
  std::vector<std::int64_t>* shape = nullptr;
};

/// Buffers of the calling thread to make a request of, empty but with the capacity of earlier
/// requests, so that making a request allocates nothing. Valid until the next call on this thread.
std::vector<InputBuffer>& InputScratch();
std::vector<OutputBuffer>& OutputScratch();

}  // namespace model_runtime
