#include "model_runtime/serving/request_queue.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace model_runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// A request of `batches` whose `rows` say which it is.
Request* Numbered(RequestQueue& queue, std::uint64_t number, std::uint64_t batches = 1) {
  Request* request = queue.NewRequest();
  request->route.rows = number;
  request->route.batches = batches;
  return request;
}

TEST(RequestQueueTest, KeepsTheOrderAndCountsWhatIsNotDone) {
  RequestQueue queue(10);
  EXPECT_TRUE(queue.idle());
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(queue.Push(Numbered(queue, i), false));
  for (std::uint64_t i = 0; i < 3; ++i) {
    Request* request = queue.Pop(Clock::time_point::max());
    EXPECT_EQ(request->route.rows, i);
    EXPECT_FALSE(queue.idle());
    queue.Recycle(request);
    queue.Finished();
  }
  EXPECT_TRUE(queue.idle());
}

TEST(RequestQueueTest, UsesRequestsAgain) {
  RequestQueue queue(1);
  Request* first = queue.NewRequest();
  Request* second = queue.NewRequest();
  EXPECT_NE(first, second);
  queue.Recycle(first);
  EXPECT_EQ(queue.NewRequest(), first);
}

TEST(RequestQueueTest, PushWaitsForRoom) {
  RequestQueue queue(2);
  queue.Push(Numbered(queue, 0), false);
  queue.Push(Numbered(queue, 1, 5), false);  // one batch is queued, so this one may come
  queue.Push(Numbered(queue, 2), true);
  std::atomic<bool> pushed = false;
  std::thread producer([&] {
    queue.Push(Numbered(queue, 3), false);
    pushed = true;
  });
  EXPECT_EQ(queue.TryPop()->route.rows, 0U);
  EXPECT_FALSE(pushed) << "six batches are queued";
  EXPECT_EQ(queue.TryPop()->route.rows, 1U);
  producer.join();
  EXPECT_EQ(queue.TryPop()->route.rows, 2U);
  EXPECT_EQ(queue.TryPop()->route.rows, 3U);
  EXPECT_EQ(queue.TryPop(), nullptr);
}

TEST(RequestQueueTest, PopEndsAtTheDeadlineAndWhenWoken) {
  RequestQueue queue(2);
  EXPECT_EQ(queue.Pop(Clock::now()), nullptr);
  queue.Wake();
  EXPECT_EQ(queue.Pop(Clock::time_point::max()), nullptr);
  std::thread waker([&] { queue.Wake(); });
  EXPECT_EQ(queue.Pop(Clock::time_point::max()), nullptr);
  waker.join();
}

TEST(RequestQueueTest, CloseLetsEveryoneGo) {
  RequestQueue queue(1);
  queue.Push(Numbered(queue, 0), false);
  bool accepted = true;
  std::thread producer([&] { accepted = queue.Push(Numbered(queue, 1), false); });
  queue.Close();
  producer.join();
  EXPECT_FALSE(accepted);
  EXPECT_EQ(queue.Pop(Clock::time_point::max()), nullptr);
  EXPECT_EQ(queue.TryPop()->route.rows, 0U) << "what was queued is still there";
}

}  // namespace
}  // namespace model_runtime
