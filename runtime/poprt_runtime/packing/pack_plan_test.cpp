#include "runtime/poprt_runtime/packing/pack_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace poprt::runtime {
namespace {

using testing::ElementsAre;

PackRoom Room(std::uint64_t rows, std::uint64_t row_length, PackAlgorithm algorithm,
              std::uint64_t delimiter = 0, std::uint64_t most_entries = 1000) {
  return {rows, row_length, delimiter, most_entries, algorithm};
}

/// How many of the lengths found room.
std::size_t AddAll(const std::vector<std::uint64_t>& lengths, PackPlan& plan) {
  std::size_t added = 0;
  while (added < lengths.size() && plan.Add(lengths[added])) ++added;
  return added;
}

TEST(PackPlanTest, FirstFitGoesBackToEarlierRows) {
  PackPlan plan(Room(3, 10, PackAlgorithm::FirstFit));
  EXPECT_EQ(AddAll({6, 7, 4, 3, 9, 2}, plan), 5U);
  EXPECT_THAT(plan.placements(),
              ElementsAre(Placement{0, 0, 6}, Placement{1, 0, 7}, Placement{0, 6, 4},
                          Placement{1, 7, 3}, Placement{2, 0, 9}));
  EXPECT_THAT(plan.Order(), ElementsAre(0, 2, 1, 3, 4));
}

TEST(PackPlanTest, NextFitNeverGoesBack) {
  PackPlan plan(Room(3, 10, PackAlgorithm::NextFit));
  EXPECT_EQ(AddAll({6, 7, 4, 3, 9, 2}, plan), 4U);
  EXPECT_THAT(plan.placements(), ElementsAre(Placement{0, 0, 6}, Placement{1, 0, 7},
                                             Placement{2, 0, 4}, Placement{2, 4, 3}));
  EXPECT_THAT(plan.Order(), ElementsAre(0, 1, 2, 3));
}

TEST(PackPlanTest, DelimitersStandBetweenEntriesOnly) {
  PackPlan plan(Room(2, 6, PackAlgorithm::NextFit, 2));
  EXPECT_EQ(AddAll({2, 2, 6, 1}, plan), 3U);
  EXPECT_THAT(plan.placements(),
              ElementsAre(Placement{0, 0, 2}, Placement{0, 4, 2}, Placement{1, 0, 6}));
}

TEST(PackPlanTest, IsFullWithTheMostEntriesOrWithoutAFreeToken) {
  PackPlan few(Room(2, 6, PackAlgorithm::NextFit, 0, 2));
  EXPECT_FALSE(few.Full());
  EXPECT_EQ(AddAll({1, 1, 1}, few), 2U);
  EXPECT_TRUE(few.Full());
  PackPlan filled(Room(1, 6, PackAlgorithm::FirstFit, 1));
  EXPECT_TRUE(filled.Add(5));  // the delimiter takes the token that is left
  EXPECT_TRUE(filled.Full());
  filled.Clear();
  EXPECT_FALSE(filled.Full());
  EXPECT_TRUE(filled.Add(6));
}

TEST(PackPlanTest, RefusesEntriesThatAreLongerThanARow) {
  PackPlan plan(Room(2, 6, PackAlgorithm::FirstFit));
  EXPECT_FALSE(plan.Add(7));
  EXPECT_TRUE(plan.placements().empty());
}

/// The definition of the algorithms, written down another way: by the tokens that are taken.
std::optional<Placement> WantedPlace(const std::vector<std::vector<bool>>& taken,
                                     const PackRoom& room, std::uint64_t previous_row,
                                     std::uint64_t length) {
  const std::uint64_t first = room.algorithm == PackAlgorithm::FirstFit ? 0 : previous_row;
  for (std::uint64_t row = first; row < room.rows; ++row) {
    std::uint64_t end = room.row_length;
    while (end > 0 && !taken[row][end - 1]) --end;
    const std::uint64_t offset = end == 0 ? 0 : end + room.delimiter;
    if (offset + length <= room.row_length) return Placement{row, offset, length};
  }
  return std::nullopt;
}

TEST(PackPlanTest, RandomEntriesLieWhereTheDefinitionsSay) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto number = [&](std::uint64_t least, std::uint64_t most) {
      return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
    };
    const PackRoom room{
        .rows = number(1, 5),
        .row_length = number(1, 20),
        .delimiter = number(0, 2),
        .most_entries = number(1, 30),
        .algorithm = seed % 2 == 0 ? PackAlgorithm::FirstFit : PackAlgorithm::NextFit};
    PackPlan plan(room);
    std::vector<std::vector<bool>> taken(room.rows, std::vector<bool>(room.row_length));
    std::uint64_t previous_row = 0;
    while (plan.placements().size() < room.most_entries) {
      const std::uint64_t length = number(1, room.row_length);
      const auto wanted = WantedPlace(taken, room, previous_row, length);
      const bool added = plan.Add(length);
      ASSERT_EQ(added, wanted.has_value());
      if (!added) break;
      const Placement& place = plan.placements().back();
      ASSERT_EQ(place, *wanted);
      for (std::uint64_t token = place.offset; token < place.offset + length; ++token) {
        ASSERT_FALSE(taken[place.row].at(token)) << "two entries at row " << place.row;
        taken[place.row][token] = true;
      }
      previous_row = place.row;
    }
    EXPECT_FALSE(plan.placements().size() == room.most_entries && plan.Add(1));
    const std::vector<std::size_t> order = plan.Order();
    ASSERT_EQ(order.size(), plan.placements().size());
    for (std::size_t i = 1; i < order.size(); ++i) {
      const Placement& before = plan.placements()[order[i - 1]];
      const Placement& after = plan.placements()[order[i]];
      EXPECT_TRUE(before.row < after.row ||
                  (before.row == after.row &&
                   before.offset + before.length + room.delimiter <= after.offset));
    }
  }
}

}  // namespace
}  // namespace poprt::runtime
