#include "runtime/device/memory_advice.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace poprt::device {
namespace {

bool IsAsked(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

void AdviseMemory(const void* data, std::size_t bytes, MemoryUse use) {
  if (bytes == 0) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = address / page * page;
  void* start = reinterpret_cast<void*>(first);
  const std::size_t size = address - first + bytes;
  if (IsAsked("POPRT_HUGE_PAGES")) madvise(start, size, MADV_HUGEPAGE);
  if (!IsAsked("POPRT_PREFAULT")) return;
  const int populate = use == MemoryUse::kRead ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  // Linux before 5.14 cannot populate on request.
  if (madvise(start, size, populate) != 0) madvise(start, size, MADV_WILLNEED);
}

}  // namespace poprt::device
