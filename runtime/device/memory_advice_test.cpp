#include "runtime/device/memory_advice.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace poprt::device {
namespace {

/// Pages of fresh memory that are there after advice for all but its first and last byte.
std::size_t PagesAfterAdvice(std::size_t pages, MemoryUse use) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = pages * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  AdviseMemory(static_cast<std::byte*>(memory) + 1, bytes - 2, use);
  std::vector<unsigned char> resident(pages);
  EXPECT_EQ(mincore(memory, bytes, resident.data()), 0);
  munmap(memory, bytes);
  return static_cast<std::size_t>(
      std::count_if(resident.begin(), resident.end(), [](unsigned char r) { return r & 1; }));
}

TEST(MemoryAdviceTest, PagesAreThereAtOnceIfAskedFor) {
  unsetenv("POPRT_PREFAULT");
  EXPECT_EQ(PagesAfterAdvice(16, MemoryUse::kWrite), 0U);
  setenv("POPRT_PREFAULT", "0", 1);
  EXPECT_EQ(PagesAfterAdvice(16, MemoryUse::kWrite), 0U);
  setenv("POPRT_PREFAULT", "1", 1);
  EXPECT_EQ(PagesAfterAdvice(16, MemoryUse::kWrite), 16U);
  unsetenv("POPRT_PREFAULT");
}

}  // namespace
}  // namespace poprt::device
