#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "model_runtime/RingBuffer.hpp"

namespace model_runtime {
namespace {

const void* Address(std::uintptr_t number) { return reinterpret_cast<const void*>(number); }

TEST(RingBufferTest, IsFirstInFirstOutAndWrapsAround) {
  InputRingBuffer ring(3);
  EXPECT_EQ(ring.capacity(), 3U);
  std::uintptr_t pushed = 0;
  std::uintptr_t popped = 0;
  for (int round = 0; round < 10; ++round) {
    while (ring.push({Address(pushed + 1), pushed})) ++pushed;
    EXPECT_EQ(ring.readAvailable(), 3U);
    EXPECT_EQ(ring.writeAvailable(), 0U);
    for (int i = 0; i < 2; ++i, ++popped) {
      InputElement element;
      ASSERT_TRUE(ring.pop(element));
      EXPECT_EQ(element.data, Address(popped + 1));
      EXPECT_EQ(element.size, popped);
    }
    EXPECT_EQ(ring.readAvailable(), 1U);
    EXPECT_EQ(ring.writeAvailable(), 2U);
  }
  EXPECT_EQ(pushed, 21U);
  EXPECT_EQ(ring.writePosition(), 21U);
  EXPECT_EQ(ring.readPosition(), 20U);
}

TEST(RingBufferTest, IsEmptyAtFirst) {
  OutputRingBuffer ring(1);
  OutputElement element;
  EXPECT_FALSE(ring.pop(element));
  EXPECT_EQ(ring.front(), nullptr);
  EXPECT_EQ(ring.readAvailable(), 0U);
  EXPECT_THROW(OutputRingBuffer(0), std::invalid_argument);
}

TEST(RingBufferTest, AFullRingLeavesTheElementAlone) {
  InputRingBuffer ring(1);
  int calls = 0;
  ASSERT_TRUE(ring.push({}));
  InputElement element{nullptr, 0, [&] { ++calls; }};
  EXPECT_FALSE(ring.push(std::move(element)));
  ASSERT_TRUE(element.callback);  // NOLINT(bugprone-use-after-move): nothing was moved
  element.callback();
  EXPECT_EQ(calls, 1);
}

TEST(RingBufferTest, KeepsNothingOfWhatWasPopped) {
  InputRingBuffer ring(2);
  auto owned = std::make_shared<int>(1);
  ASSERT_TRUE(ring.push({nullptr, 0, [owned] {}}));
  EXPECT_EQ(owned.use_count(), 2);
  {
    InputElement element;
    ASSERT_TRUE(ring.pop(element));
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(RingBufferTest, TwoThreadsSeeTheSameSequence) {
  constexpr std::uintptr_t kCount = 20'000;
  InputRingBuffer ring(50);
  std::uintptr_t calls = 0;  // of the consumer's thread
  std::thread producer([&] {
    for (std::uintptr_t i = 0; i < kCount; ++i) {
      while (!ring.push({Address(i + 1), i, [&calls] { ++calls; }})) std::this_thread::yield();
    }
  });
  std::uintptr_t wrong = 0;
  for (std::uintptr_t i = 0; i < kCount; ++i) {
    InputElement element;
    while (!ring.pop(element)) std::this_thread::yield();
    if (element.data != Address(i + 1) || element.size != i) ++wrong;
    element.callback();
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(calls, kCount);
}

}  // namespace
}  // namespace model_runtime
