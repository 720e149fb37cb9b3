#include "runtime/device/streaming_copy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace poprt::device {
namespace {

TEST(StreamingCopyTest, CopiesEveryByteAndNoMore) {
  constexpr std::size_t kMost = 300;
  struct alignas(64) Target {
    std::uint8_t bytes[kMost + 1];
  };
  std::vector<std::uint8_t> source(kMost + 3);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 7 + 1);
  for (std::size_t bytes = 0; bytes <= kMost; ++bytes) {
    const auto target = std::make_unique<Target>();
    StreamingCopy(target->bytes, source.data() + 3, bytes);
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(target->bytes[i], source[i + 3]);
    ASSERT_EQ(target->bytes[bytes], 0);
  }
}

}  // namespace
}  // namespace poprt::device
