#include "compiler/host/order_steps.hpp"

#include <gtest/gtest.h>

#include <random>

#include "compiler/host/lifetimes.hpp"

namespace poprt::host {
namespace {

using lower::Buffer;
using lower::BufferId;
using lower::Schedule;
using lower::Step;

Buffer Activation(std::int64_t bytes) {
  return {.type = {ElementType::kUint8, {bytes}}, .constant = {}, .view_of = {}};
}

Step Call(std::string name, std::vector<BufferId> inputs, std::vector<BufferId> outputs) {
  return {.name = std::move(name),
          .kernel = "k",
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = {}};
}

std::vector<std::string> Names(const Schedule& schedule) {
  std::vector<std::string> names;
  for (const Step& step : schedule.steps) names.push_back(step.name);
  return names;
}

TEST(OrderStepsTest, BranchesAreFinishedOneByOne) {
  // Two branches widen and narrow again; the given order widens both first.
  Schedule schedule{
      .name = "m",
      .buffers = {Activation(64), Activation(6400), Activation(6400), Activation(64),
                  Activation(64), Activation(64)},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 5}},
      .steps = {Call("wide_a", {0}, {1}), Call("wide_b", {0}, {2}), Call("narrow_a", {1}, {3}),
                Call("narrow_b", {2}, {4}), Call("join", {3, 4}, {5})}};
  EXPECT_EQ(LargestLiveSet(schedule), 12800U + 64);
  OrderSteps(schedule);
  EXPECT_EQ(Names(schedule),
            (std::vector<std::string>{"wide_a", "narrow_a", "wide_b", "narrow_b", "join"}));
  EXPECT_EQ(LargestLiveSet(schedule), 6400U + 64 + 64);
}

TEST(OrderStepsTest, StagesStayInTheirOrder) {
  Schedule schedule{
      .name = "m",
      .buffers = {Activation(64), Activation(6400), Activation(6400), Activation(64),
                  Activation(64), Activation(64)},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 5}},
      .steps = {Call("wide_b", {0}, {2}), Call("wide_a", {0}, {1}), Call("narrow_a", {1}, {3}),
                Call("narrow_b", {2}, {4}), Call("join", {3, 4}, {5})}};
  Schedule staged = schedule;
  for (const std::size_t i : {3, 4}) staged.steps[i].stage = 1;
  OrderSteps(schedule);
  EXPECT_EQ(Names(schedule),
            (std::vector<std::string>{"wide_b", "narrow_b", "wide_a", "narrow_a", "join"}));
  OrderSteps(staged);
  EXPECT_EQ(Names(staged),
            (std::vector<std::string>{"wide_b", "wide_a", "narrow_a", "narrow_b", "join"}));
}

TEST(OrderStepsTest, AnOrderThatIsAsGoodStays) {
  Schedule schedule{.name = "m",
                    .buffers = {Activation(64), Activation(64), Activation(128), Activation(64)},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 1}, {"z", 3}},
                    .steps = {Call("b", {0}, {2}), Call("c", {2}, {3}), Call("a", {0}, {1})}};
  OrderSteps(schedule);
  EXPECT_EQ(Names(schedule), (std::vector<std::string>{"b", "c", "a"}));
}

/// Every step comes after those that write what it reads, parts of a buffer among them.
TEST(OrderStepsTest, RandomSchedulesKeepTheirDependencies) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    Schedule schedule{.name = "random", .buffers = {Activation(64)}, .inputs = {{"x", 0}}};
    constexpr BufferId count = 60;
    for (BufferId i = 1; i < count; ++i) {
      schedule.buffers.push_back(Activation(64 * draw(1, 50)));
      const auto any = [&] { return static_cast<BufferId>(draw(0, static_cast<int>(i) - 1)); };
      schedule.steps.push_back(Call(std::to_string(i), {any(), any()}, {i}));
    }
    // Some become parts of one buffer, which the last step reads as a whole.
    const BufferId whole = count;
    std::uint64_t end = 0;
    schedule.buffers.push_back(Activation(0));
    for (BufferId i = 1; i < count; i += 7) {
      schedule.buffers[i].view_of = whole;
      schedule.buffers[i].view_offset = end;
      end += schedule.buffers[i].type.bytes();
    }
    schedule.buffers[whole] = Activation(static_cast<std::int64_t>(end));
    schedule.buffers.push_back(Activation(64));
    schedule.steps.push_back(Call("last", {whole}, {whole + 1}));
    schedule.outputs = {{"y", whole + 1}, {"z", count - 2}};

    Schedule ordered = schedule;
    OrderSteps(ordered);
    ASSERT_EQ(ordered.steps.size(), schedule.steps.size());
    EXPECT_LE(LargestLiveSet(ordered), LargestLiveSet(schedule));
    std::vector<bool> is_written(schedule.buffers.size(), false);
    is_written[0] = true;
    for (const Step& step : ordered.steps) {
      for (const BufferId input : step.inputs) {
        if (input != whole) {
          EXPECT_TRUE(is_written[input]) << step.name << " reads " << input;
          continue;
        }
        for (BufferId i = 1; i < count; i += 7) EXPECT_TRUE(is_written[i]) << i;
      }
      EXPECT_FALSE(is_written[step.outputs[0]]);
      is_written[step.outputs[0]] = true;
    }
  }
}

}  // namespace
}  // namespace poprt::host
