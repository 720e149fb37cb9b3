#include "runtime/kernels/rounds.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace poprt::kernels {
namespace {

using ::testing::Each;

/// Runs rounds in which each part adds what all parts of the round before have left, as memory that
/// threads share without any other protection.
void ExpectRoundsInOrder(ThreadPool& pool, std::int64_t rounds, int parts) {
  const auto count = static_cast<std::size_t>(parts);
  std::vector<std::vector<std::uint64_t>> sums(static_cast<std::size_t>(rounds) + 1);
  for (auto& of_round : sums) of_round.assign(count, 0);
  sums[0].assign(count, 1);
  RunRounds(pool, rounds, parts, [&](std::int64_t round, int part) {
    const auto& before = sums[static_cast<std::size_t>(round)];
    std::uint64_t sum = 0;
    for (const std::uint64_t value : before) sum += value;
    sums[static_cast<std::size_t>(round) + 1][static_cast<std::size_t>(part)] += sum;
  });
  std::uint64_t expected = 1;  // modulo 2^64
  for (const auto& of_round : sums) {
    ASSERT_THAT(of_round, Each(expected)) << pool.size() << " threads, " << parts << " parts";
    expected *= count;
  }
}

TEST(Rounds, EveryPartRunsOnceAfterTheRoundBefore) {
  for (int size = 1; size <= 4; ++size) {
    ThreadPool pool(size);
    for (const int parts : {1, 2, 3, 16}) {
      for (const std::int64_t rounds : {0, 1, 2, 500}) ExpectRoundsInOrder(pool, rounds, parts);
    }
  }
}

TEST(Rounds, CallersMayShareAPool) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  callers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&pool] {
      for (int run = 0; run < 20; ++run) ExpectRoundsInOrder(pool, 50, 2);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(Rounds, APartThatTakesLongIsWaitedFor) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> ended = 0;
  RunRounds(pool, 30, 3, [&](std::int64_t round, int part) {
    EXPECT_GE(ended, 3 * round);
    EXPECT_LT(ended, 3 * (round + 1));
    if (round % 10 == part) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++ended;
  });
  EXPECT_EQ(ended, 90);
}

}  // namespace
}  // namespace poprt::kernels
