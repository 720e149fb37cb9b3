#include "runtime/kernels/matrix_unit/split_blocking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace poprt::kernels {
namespace {

constexpr PanelNumbers kFloat = PanelNumbers::kFloat;

struct Extents {
  std::int64_t rows;
  std::int64_t panels;
  std::int64_t depth;
};

constexpr Extents kExtents[] = {{128, 48, 768}, {196, 16, 1152}, {96, 4, 1024}, {49, 32, 2048},
                                {12544, 2, 32}, {784, 8, 1152},  {16, 1, 16},   {300, 203, 1600}};

TEST(SplitBlocking, TasksCoverAllAndFitIntoScratchMemory) {
  for (const auto& [rows, panels, depth] : kExtents) {
    const SplitBlocking blocking(rows, panels, depth, kFloat);
    for (int workers = 1; workers <= 64; ++workers) {
      const SplitTasks tasks = blocking.Tasks(workers);
      std::vector<int> covered(static_cast<std::size_t>(rows * panels));
      for (std::int64_t i = 0; i < tasks.count(); ++i) {
        const SplitTask task = tasks.At(i);
        EXPECT_LE(task.rows, 256);
        EXPECT_LE(task.last_panel - task.first_panel, 96);
        for (std::int64_t row = task.first_row; row < task.first_row + task.rows; ++row) {
          for (std::int64_t p = task.first_panel; p < task.last_panel; ++p) {
            ++covered[static_cast<std::size_t>(row * panels + p)];
          }
        }
      }
      ASSERT_TRUE(std::ranges::all_of(covered, [](int times) { return times == 1; }))
          << rows << ' ' << panels << ' ' << workers;
    }
  }
}

TEST(SplitBlocking, EveryWorkerHasATaskWhereThereIsEnough) {
  for (const auto& [rows, panels, depth] : kExtents) {
    const SplitBlocking blocking(rows, panels, depth, kFloat);
    for (int workers = 1; workers <= 64; ++workers) {
      const std::int64_t enough = std::max<std::int64_t>(1, rows / 64) * ((panels + 1) / 2);
      EXPECT_GE(blocking.Tasks(workers).count(), std::min<std::int64_t>(workers, enough))
          << rows << ' ' << panels << ' ' << workers;
    }
  }
}

TEST(SplitBlocking, TwoWorkersHaveEquallyMany) {
  for (const auto& [rows, panels, depth] : kExtents) {
    if (panels == 1) continue;
    EXPECT_EQ(SplitBlocking(rows, panels, depth, kFloat).Tasks(2).count() % 2, 0) << rows;
  }
}

TEST(SplitBlocking, RowsAreCutEvenlyAndPanelsInPairs) {
  const SplitTasks rows = SplitBlocking(196, 4, 384, kFloat).Tasks(2);
  EXPECT_EQ(rows.rows.largest(), 98);
  EXPECT_EQ(rows.panels.blocks(), 1);
  const SplitTasks panels = SplitBlocking(49, 10, 960, kFloat).Tasks(2);
  EXPECT_EQ(panels.rows.blocks(), 1);
  EXPECT_EQ(panels.panels.largest(), 6);
  // As many rows for each of a block more would be as many blocks.
  EXPECT_EQ(SplitBlocking(12544, 2, 768, kFloat).Tasks(113).rows.largest(), 111);
}

TEST(SplitBlocking, UnitPaysForATileOfRowsAndADepth) {
  EXPECT_TRUE(SplitBlocking::Pays(128, 48, 768, kFloat));
  EXPECT_TRUE(SplitBlocking::Pays(32, 64, 1024, PanelNumbers::kScaled));
  EXPECT_TRUE(SplitBlocking::Pays(16, 64, 1024, kFloat));
  EXPECT_FALSE(SplitBlocking::Pays(15, 64, 1024, kFloat));
  EXPECT_FALSE(SplitBlocking::Pays(128, 4, 16, kFloat));
}

TEST(SplitBlocking, PartsOfARangeFitIntoScratchMemory) {
  const SplitTasks tasks = SplitBlocking(600, 208, 1600, kFloat).TasksOf(300, 104);
  EXPECT_LE(tasks.rows.largest(), 256);
  EXPECT_LE(tasks.panels.largest(), 96);
  EXPECT_EQ(tasks.count(), 4);
}

}  // namespace
}  // namespace poprt::kernels
