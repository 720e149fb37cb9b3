#include "compiler/tuner/kernel_tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "compiler/lower/schedule_for_test.hpp"

namespace poprt::tuner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// An element-wise node that may be computed as any of three operators; the estimates say the
/// second.
struct Unary {
  Unary() {
    const TensorType type{ElementType::kFloat32, {8}};
    const ir::ValueId x = graph.AddValue("x", type);
    decision.what = "a node";
    for (const auto& [op, estimate] : {std::pair{"Relu", 4.0}, {"Neg", 2.0}, {"Abs", 3.0}}) {
      decision.alternatives.push_back(
          {std::string("as ") + op, graph.MakeNode(op, {x}, type, {}, op), estimate});
    }
  }

  ir::Graph graph;
  passes::Decision decision;
};

/// A tuner whose measurements are given.
class KernelTunerTest : public testing::Test {
 protected:
  KernelTuner Tuner(TimingCache cache = {}) {
    return KernelTuner(
        {"a processor", 2}, std::move(cache),
        [this](std::span<const Workload> workloads) -> absl::StatusOr<std::vector<double>> {
          ++measurements_;
          for (const Workload& workload : workloads) {
            for (const KernelUse& use : workload.uses) measured_.push_back(use.kernel);
          }
          if (times_.empty()) return absl::InvalidArgumentError("no clock");
          return times_;
        },
        [this](const std::string& message) { warnings_.push_back(message); });
  }

  std::vector<double> times_;
  int measurements_ = 0;
  std::vector<std::string> measured_;
  std::vector<std::string> warnings_;
};

TEST(WorthwhileInsteadOfTest, LargerWeightsMustSaveATenthAndOthersMoreThanNoise) {
  const auto choose = [](std::size_t expected, std::vector<double> times) {
    return WorthwhileInsteadOf(expected, times);
  };
  EXPECT_EQ(choose(0, {100, 91, 92}), 0U);
  EXPECT_EQ(choose(0, {100, 90, 89}), 2U);
  EXPECT_EQ(choose(1, {98, 100, 91}), 1U);
  EXPECT_EQ(choose(1, {97, 100, 91}), 0U);
  EXPECT_EQ(choose(2, {96, 95, 100}), 1U);
  EXPECT_EQ(choose(2, {120, 110, 100}), 2U);
}

TEST_F(KernelTunerTest, TimesDecideInsteadOfEstimates) {
  Unary unary;
  times_ = {40, 30, 20};
  KernelTuner tuner = Tuner();
  EXPECT_EQ(tuner.Decide(unary.graph, unary.decision), 2U);
  EXPECT_THAT(measured_, ElementsAre("Relu", "Neg", "Abs"));
  EXPECT_EQ(tuner.Decide(unary.graph, unary.decision), 2U);
  EXPECT_EQ(measurements_, 1);

  EXPECT_THAT(tuner.report().choices, IsEmpty());
  tuner.Keep(tuner.TakeChoices());
  EXPECT_THAT(tuner.TakeChoices(), IsEmpty());
  const TuningReport& report = tuner.report();
  EXPECT_EQ(report.machine.processor, "a processor");
  ASSERT_EQ(report.choices.size(), 1U);
  EXPECT_EQ(report.choices[0].what, "a node");
  EXPECT_EQ(report.choices[0].uses, 2);
  EXPECT_TRUE(report.choices[0].measured);
  EXPECT_EQ(report.choices[0].expected, "as Neg");
  EXPECT_EQ(report.choices[0].chosen, "as Abs");
  EXPECT_EQ(report.choices[0].GainMicroseconds(), 20);
  EXPECT_EQ(report.GainMicroseconds(), 20);
}

TEST_F(KernelTunerTest, WhatTheCacheKnowsIsNotMeasured) {
  Unary unary;
  times_ = {20, 30, 40};
  KernelTuner first = Tuner();
  EXPECT_EQ(first.Decide(unary.graph, unary.decision), 0U);
  const auto read = TimingCache::FromJson(first.cache().ToJson());
  ASSERT_TRUE(read.ok()) << read.status();

  times_ = {40, 30, 20};
  KernelTuner second = Tuner(*read);
  EXPECT_EQ(second.Decide(unary.graph, unary.decision), 0U);
  EXPECT_EQ(measurements_, 1);
  EXPECT_FALSE(second.TakeChoices()[0].measured);
  EXPECT_EQ(second.cache().ToJson(), first.cache().ToJson());
}

TEST_F(KernelTunerTest, TheCostTableDecidesWhatCannotBeMeasured) {
  Unary unary;
  KernelTuner tuner = Tuner();
  EXPECT_EQ(tuner.Decide(unary.graph, unary.decision), 1U);
  EXPECT_THAT(warnings_, ElementsAre("perf_tuner: a node: no clock"));
  EXPECT_THAT(tuner.TakeChoices(), IsEmpty());
  EXPECT_EQ(tuner.cache().size(), 0U);
}

TEST_F(KernelTunerTest, SchedulesAreComparedByTheStepsInWhichTheyDiffer) {
  lower::Schedule expected;
  expected.buffers = {lower::Activation({8}), lower::Activation({8})};
  lower::Schedule other = expected;
  expected.steps = {lower::Call("Relu", {0}, {1}), lower::Call("Neg", {1}, {0})};
  other.steps = {lower::Call("Neg", {0}, {1}), lower::Call("Abs", {1}, {0})};
  times_ = {20, 18};
  KernelTuner tuner = Tuner();
  EXPECT_TRUE(tuner.IsFaster("graph 'g'", other, "without p", expected, "with p"));
  EXPECT_THAT(measured_, ElementsAre("Relu", "Abs"));
  const std::vector<TunedChoice> choices = tuner.TakeChoices();
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].chosen, "without p");
  EXPECT_EQ(choices[0].GainMicroseconds(), 2);

  times_ = {20, 19};
  EXPECT_FALSE(Tuner().IsFaster("graph 'g'", other, "without p", expected, "with p"));
}

TEST_F(KernelTunerTest, SchedulesThatAreTheSameOrLessNeedNoMeasurement) {
  lower::Schedule expected;
  expected.buffers = {lower::Activation({8}), lower::Activation({8})};
  expected.steps = {lower::Call("Relu", {0}, {1}), lower::Call("Neg", {1}, {0})};
  lower::Schedule other = expected;
  KernelTuner tuner = Tuner();
  EXPECT_FALSE(tuner.IsFaster("g", other, "without p", expected, "with p"));
  other.steps.pop_back();
  EXPECT_TRUE(tuner.IsFaster("g", other, "without p", expected, "with p"));
  EXPECT_FALSE(tuner.IsFaster("g", expected, "without p", other, "with p"));
  EXPECT_EQ(measurements_, 0);
}

}  // namespace
}  // namespace poprt::tuner
