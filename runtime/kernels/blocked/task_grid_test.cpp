#include "runtime/kernels/blocked/task_grid.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace poprt::kernels {
namespace {

using Tasks = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(TaskGrid, FewTasksAreSharedEvenlyWhereAllWorkersHaveAsMany) {
  EXPECT_TRUE(AreSharedEvenly(4, 2));
  EXPECT_TRUE(AreSharedEvenly(1, 1));
  EXPECT_FALSE(AreSharedEvenly(5, 2));
  EXPECT_FALSE(AreSharedEvenly(7, 2));
  EXPECT_TRUE(AreSharedEvenly(9, 2)) << "one of nine is little";
}

Tasks InOrder(const TaskGrid& grid) {
  Tasks tasks;
  for (std::int64_t i = 0; i < grid.count(); ++i) {
    const auto [pixels, channels] = grid.At(i);
    tasks.emplace_back(pixels, channels);
  }
  return tasks;
}

TEST(TaskGrid, WorkersShareOutWhatIsOutside) {
  EXPECT_EQ(InOrder({2, 3, TaskGrid::Outside::kPixels}),
            (Tasks{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(InOrder({2, 3, TaskGrid::Outside::kChannels}),
            (Tasks{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
}

TEST(TaskGrid, SeveralImagesAreSharedOutByPlanes) {
  EXPECT_EQ(InOrder(TaskGrid::OfPlanes(1, 2, 2)), (Tasks{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(InOrder(TaskGrid::OfPlanes(2, 2, 2)), (Tasks{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
}

TEST(TaskGrid, StripsOfLargeWeightsAreSharedOutByChannels) {
  EXPECT_EQ(InOrder(TaskGrid::OfStrips(2, 2, true)), (Tasks{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(InOrder(TaskGrid::OfStrips(2, 2, false)), (Tasks{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
}

}  // namespace
}  // namespace poprt::kernels
