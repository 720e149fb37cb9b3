#include "compiler/tuner/measure_workloads.hpp"

#include <gtest/gtest.h>

#include "compiler/tuner/this_machine.hpp"

namespace poprt::tuner {
namespace {

constexpr MeasureLimits kOnce{.seconds = 0, .fewest_rounds = 1, .most_rounds = 3};

KernelUse Relu(std::int64_t elements, ElementType element = ElementType::kFloat32) {
  const TensorType type{element, {elements}};
  return {.kernel = "Relu", .inputs = {{type}}, .outputs = {type}, .attributes = {}};
}

TEST(MeasureWorkloadsTest, EveryWorkloadHasATime) {
  kernels::ThreadPool pool(2);
  Tensor weights({ElementType::kFloat32, {1000}});
  const KernelUse add{.kernel = "Add",
                      .inputs = {{weights.type()}, {weights.type(), weights}},
                      .outputs = {weights.type()},
                      .attributes = {},
                      .count = 2};
  const std::vector<Workload> workloads = {
      {"one", {Relu(100)}}, {"two", {Relu(1000, ElementType::kFloat16), add}}, {"none", {}}};
  const auto times = MeasureWorkloads(workloads, pool, kOnce);
  ASSERT_TRUE(times.ok()) << times.status();
  ASSERT_EQ(times->size(), 3U);
  for (const double time : *times) EXPECT_GT(time, 0);
}

TEST(MeasureWorkloadsTest, NamesACallThatCannotRun) {
  kernels::ThreadPool pool(1);
  KernelUse use = Relu(3);
  use.outputs[0].shape = {4};
  const auto times = MeasureWorkloads(std::vector<Workload>{{"one", {use}}}, pool, kOnce);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(times.status().message());
  EXPECT_EQ(message.find("cannot be measured: Relu(float32[3]) -> float32[4]: "), 0U) << message;

  use.kernel = "no_kernel";
  EXPECT_EQ(
      std::string(
          MeasureWorkloads(std::vector<Workload>{{"one", {use}}}, pool, kOnce).status().message()),
      "cannot be measured: no_kernel(float32[3]) -> float32[4]: there is no such kernel");
}

TEST(ThisMachineTest, HasANameAndTheThreadsOfThePool) {
  const kernels::ThreadPool pool(3);
  const Machine machine = ThisMachine(pool);
  EXPECT_FALSE(machine.processor.empty());
  EXPECT_EQ(machine.threads, 3);
}

}  // namespace
}  // namespace poprt::tuner
