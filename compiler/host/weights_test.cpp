#include "compiler/host/weights.hpp"

#include <gtest/gtest.h>

#include <array>

namespace poprt::host {
namespace {

using lower::Schedule;

/// A graph that reads constants filled with the given values.
Schedule Reading(std::initializer_list<float> values) {
  Schedule schedule{.name = "g", .buffers = {}, .inputs = {}, .outputs = {}, .steps = {}};
  lower::Step step{.name = "n", .kernel = "k", .inputs = {}, .outputs = {}, .attributes = {}};
  for (const float value : values) {
    std::array<float, 20> elements{};
    elements.fill(value);
    const TensorType type{ElementType::kFloat32, {20}};
    step.inputs.push_back(static_cast<lower::BufferId>(schedule.buffers.size()));
    schedule.buffers.push_back({type, Tensor(type, elements.data()), std::nullopt});
  }
  schedule.steps.push_back(step);
  return schedule;
}

TEST(WeightsTest, EqualConstantsOfAllGraphsStandOnce) {
  const std::array schedules{Reading({1, 2, 1}), Reading({3, 2})};
  const WeightsPlan plan = PlanWeights(schedules);
  EXPECT_EQ(plan.offsets[0], (std::vector<std::uint64_t>{0, 128, 0}));
  EXPECT_EQ(plan.offsets[1], (std::vector<std::uint64_t>{256, 128}));
  EXPECT_EQ(plan.bytes, 384U);
  EXPECT_EQ(plan.bytes_of_graph, (std::vector<std::uint64_t>{160, 160}));
  ASSERT_EQ(plan.pieces.size(), 3U);
  EXPECT_EQ(plan.pieces[2].second.as<float>()[0], 3.0F);
}

TEST(WeightsTest, UnusedConstantsAreLeftOut) {
  Schedule schedule = Reading({1, 2});
  schedule.steps[0].inputs = {1};
  const WeightsPlan plan = PlanWeights(std::span(&schedule, 1));
  ASSERT_EQ(plan.pieces.size(), 1U);
  EXPECT_EQ(plan.pieces[0].second.as<float>()[0], 2.0F);
}

}  // namespace
}  // namespace poprt::host
