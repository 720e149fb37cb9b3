#include "passes/decision.hpp"

#include <gtest/gtest.h>

namespace poprt::passes {
namespace {

std::size_t Cheapest(std::vector<double> costs) { return CheapestWorthwhile(costs); }

TEST(DecisionTest, EachStepToALaterOneMustSaveATenth) {
  EXPECT_EQ(Cheapest({10}), 0U);
  EXPECT_EQ(Cheapest({10, 9.1}), 0U);
  EXPECT_EQ(Cheapest({10, 9}), 1U);
  EXPECT_EQ(Cheapest({10, 9, 8.2}), 1U);
  EXPECT_EQ(Cheapest({10, 9.5, 9}), 2U);
  EXPECT_EQ(Cheapest({10, 11, 5}), 2U);
}

TEST(DecisionTest, EstimatesDecideByDefault) {
  const Decision decision{.what = "a node",
                          .alternatives = {{"a", {}, 3}, {"b", {}, 2}, {"c", {}, 4}}};
  EXPECT_EQ(DecideByEstimate({}, decision), 1U);
}

}  // namespace
}  // namespace poprt::passes
