#pragma once

#include <cstdint>
#include <string>

namespace poprt::bench {

/// Memory of this process, in bytes.
struct MemoryUse {
  std::uint64_t resident = 0;
  std::uint64_t proportional = 0;  ///< a page that n processes share counts as 1/n of a page
  std::uint64_t anonymous = 0;     ///< resident and of no file: arena, heap, stacks
  std::uint64_t container = 0;     ///< resident pages of the container's file, shared with others
  std::uint64_t container_proportional = 0;

  /// Resident pages of other files: program and libraries.
  std::uint64_t other_files() const { return resident - anonymous - container; }
};

/// As it is now. Throws std::runtime_error where the system does not tell.
MemoryUse CurrentMemoryUse(const std::string& container);

}  // namespace poprt::bench
