#include "runtime/kernels/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/computing_thread.hpp"

namespace poprt::kernels {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr TaskOrder kBothOrders[] = {TaskOrder::kForwards, TaskOrder::kBackwards};

void ExpectEveryTaskOnce(ThreadPool& pool, int tasks, TaskOrder order) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
  pool.Run(
      tasks,
      [&](std::int64_t task, int worker) {
        EXPECT_GE(worker, 0);
        EXPECT_LT(worker, pool.size());
        runs[static_cast<std::size_t>(task)].fetch_add(1);
      },
      order);
  const std::vector<int> counts(runs.begin(), runs.end());
  EXPECT_THAT(counts, Each(1)) << pool.size() << " threads, " << tasks << " tasks";
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (int size = 1; size <= 5; ++size) {
    ThreadPool pool(size);
    EXPECT_EQ(pool.size(), size);
    for (const int tasks : {0, 1, 2, 7, 1000}) {
      for (const TaskOrder order : kBothOrders) ExpectEveryTaskOnce(pool, tasks, order);
    }
  }
}

TEST(ThreadPool, OneWorkerKeepsTheOrder) {
  ThreadPool pool(1);
  std::vector<std::int64_t> ran;
  for (const TaskOrder order : kBothOrders) {
    pool.Run(
        3, [&](std::int64_t task, int) { ran.push_back(task); }, order);
  }
  EXPECT_THAT(ran, ElementsAre(0, 1, 2, 2, 1, 0));
}

TEST(ThreadPool, ResultsOfTasksAreVisibleAfterRun) {
  ThreadPool pool(3);
  std::vector<int> values(64);
  for (int round = 1; round <= 2000; ++round) {
    pool.Run(64, [&](std::int64_t task, int) { values[static_cast<std::size_t>(task)] += 1; });
    ASSERT_THAT(values, Each(round));
  }
}

TEST(ThreadPool, AsManyComputingThreadsAsThePoolHasWorkAlone) {
  ThreadPool pool(2);
  const auto workers = [&pool] {
    std::atomic<int> helped{0};
    for (int round = 0; round < 200; ++round) {
      pool.Run(8, [&](std::int64_t, int worker) {
        std::this_thread::sleep_for(std::chrono::microseconds(worker == 0 ? 50 : 0));
        helped += worker;
      });
    }
    return helped.load();
  };
  const ComputingThread first;
  EXPECT_GT(workers(), 0);
  {
    const ComputingThread second;
    EXPECT_EQ(workers(), 0);
  }
  EXPECT_GT(workers(), 0);
}

TEST(ThreadPool, WorkersOfOneJobDoNotShareAScratchArea) {
  ThreadPool pool(4);
  std::vector<int> in_use(4);
  for (int round = 0; round < 200; ++round) {
    pool.Run(50, [&](std::int64_t, int worker) {
      int& mark = in_use[static_cast<std::size_t>(worker)];
      EXPECT_EQ(mark, 0);
      mark = 1;
      mark = 0;
    });
  }
}

// Both workers are at their first tasks when either goes on.
TEST(ThreadPool, EveryWorkerBeginsWithARangeOfItsOwn) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // nobody looks for tasks any more
    std::atomic<int> begun{0};
    std::vector<std::int64_t> first(2, -1);
    const TaskOrder order = kBothOrders[round % 2];
    pool.Run(
        10,
        [&](std::int64_t task, int worker) {
          std::int64_t& own = first[static_cast<std::size_t>(worker)];
          if (own >= 0) return;
          own = task;
          begun.fetch_add(1);
          while (begun.load() < 2) std::this_thread::yield();
        },
        order);
    const std::int64_t begin = order == TaskOrder::kForwards ? 0 : 4;
    EXPECT_THAT(first, ElementsAre(begin, begin + 5));
  }
}

TEST(ThreadPool, HelpersWakeAfterSleeping) {
  ThreadPool pool(3);
  std::atomic<int> sum{0};
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.Run(10, [&](std::int64_t task, int) { sum.fetch_add(static_cast<int>(task)); });
  }
  EXPECT_EQ(sum.load(), 5 * 45);
}

TEST(ThreadPool, CallerWaitsForASlowHelper) {
  ThreadPool pool(2);
  std::atomic<int> finished{0};
  pool.Run(2, [&](std::int64_t, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    finished.fetch_add(1);
  });
  EXPECT_EQ(finished.load(), 2);
}

TEST(ThreadPool, SeveralCallersMayRunAtOnce) {
  ThreadPool pool(3);
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> callers;
  callers.reserve(sums.size());
  for (std::int64_t& sum : sums) {
    callers.emplace_back([&pool, &sum] {
      for (int round = 0; round < 300; ++round) {
        std::atomic<std::int64_t> total{0};
        pool.Run(20, [&](std::int64_t task, int) { total.fetch_add(task); });
        sum += total.load();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(sums, Each(300 * 190));
}

TEST(ThreadPool, ATaskMayRunAnotherJob) {
  ThreadPool pool(2);
  std::atomic<int> runs{0};
  pool.Run(4,
           [&](std::int64_t, int) { pool.Run(5, [&](std::int64_t, int) { runs.fetch_add(1); }); });
  EXPECT_EQ(runs.load(), 20);
}

TEST(ThreadPool, SizeIsAtLeastOne) {
  ThreadPool pool(0);
  EXPECT_EQ(pool.size(), 1);
  int runs = 0;
  pool.Run(3, [&](std::int64_t, int worker) { runs += worker + 1; });
  EXPECT_EQ(runs, 3);
}

TEST(ThreadPool, ProcessPoolIsOneObject) {
  EXPECT_GE(ProcessThreadPool().size(), 1);
  EXPECT_EQ(&ProcessThreadPool(), &ProcessThreadPool());
}

}  // namespace
}  // namespace poprt::kernels
