#include "poprt/runtime/model_runner.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "poprt/runtime/lightrunner.hpp"
#include "runtime/poprt_runtime/allocation_count.hpp"
#include "runtime/poprt_runtime/test_containers.hpp"

namespace poprt::runtime {
namespace {

using Floats = std::vector<float>;

ConstTensorMemoryView View(const Floats& values) {
  return {values.data(), values.size() * sizeof(float)};
}
TensorMemoryView View(Floats& values) { return {values.data(), values.size() * sizeof(float)}; }

std::shared_ptr<Executable> Copy() { return std::make_shared<Executable>(test::CopyModel(2, 3)); }

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(PoprtModelRunnerTest, ExecuteAllocatesNothing) {
  ModelRunner runner(Copy());
  const Floats x{1, 2, 3, 4, 5, 6};
  Floats y(6);
  const InputMemoryView inputs{{"x", View(x)}};
  const OutputMemoryView outputs{{"y", View(y)}};
  for (int i = 0; i < 3; ++i) runner.execute(inputs, outputs);
  const std::size_t before = test::AllocationCount();
  for (int i = 0; i < 100; ++i) runner.execute(inputs, outputs);
  EXPECT_EQ(test::AllocationCount(), before);
  EXPECT_EQ(y, x);
}

/// Programs of before and after PopRT 1.3, where views were const and then not.
TEST(PoprtModelRunnerTest, TakesViewsThatAreConstAndViewsThatAreNot) {
  ModelRunner runner(Copy(), {});
  BaseRunner& base = runner;
  const Floats x(6, 1);
  Floats y(6);
  InputMemoryView inputs{{"x", View(x)}};
  OutputMemoryView outputs{{"y", View(y)}};
  base.execute(inputs, outputs);
  base.execute(std::as_const(inputs), std::as_const(outputs));
  OutputFutureMemoryView futures = base.executeAsync(inputs, outputs);
  EXPECT_EQ(futures.at("y").get().dataSizeBytes, 24U);
  EXPECT_EQ(y, x);
}

TEST(PoprtModelRunnerTest, BatchesHaveAnyNumberOfRows) {
  RuntimeConfig config;
  config.batchingDim = 0;
  config.timeoutNS = std::chrono::microseconds(300);
  ModelRunner runner(Copy(), config);
  for (const std::size_t rows : {1U, 2U, 5U}) {
    const Floats x(3 * rows, static_cast<float>(rows));
    Floats y(3 * rows);
    runner.execute({{"x", View(x)}}, {{"y", View(y)}});
    EXPECT_EQ(y, x);
  }
}

TEST(PoprtModelRunnerTest, RequestsGoToReplicasInTurn) {
  const DeviceManager manager;
  RuntimeConfig config;
  config.replicaIdToDevice[1] = manager.getDevice();
  ModelRunner runner(Copy(), config);
  std::vector<Floats> x, y(10, Floats(6));
  std::vector<OutputFutureMemoryView> futures;
  futures.reserve(y.size());
  x.reserve(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) x.emplace_back(6, static_cast<float>(i));
  for (std::size_t i = 0; i < y.size(); ++i) {
    futures.push_back(runner.executeAsync({{"x", View(x[i])}}, {{"y", View(y[i])}}));
  }
  for (auto& future : futures) future.at("y").get();
  EXPECT_EQ(y, x);
  // Replica 0 has taken a device too.
  std::vector<std::shared_ptr<Device>> rest;
  rest.reserve(manager.getNumDevices());
  for (int i = 2; i < manager.getNumDevices(); ++i) rest.push_back(manager.getDevice());
  EXPECT_NE(ErrorOf([&] { manager.getDevice(); }), "");
}

TEST(PoprtModelRunnerTest, TakesAsManyIpusAsTheModelNeeds) {
  const DeviceManager manager;
  const int all = manager.getNumDevices();
  const auto model = test::CopyModel(2, 3);
  model->metadata.setNumIpus(3);
  const auto executable = std::make_shared<Executable>(model);
  const Floats x{1, 2, 3, 4, 5, 6};
  {
    ModelRunner runner(executable);
    Floats y(6);
    runner.execute({{"x", View(x)}}, {{"y", View(y)}});
    EXPECT_EQ(y, x);
    const auto rest = manager.getDevice(all - 3);
    EXPECT_NE(ErrorOf([&] { manager.getDevice(); }), "");
  }
  EXPECT_EQ(manager.getDevice(all)->id(), 0);
  RuntimeConfig pinned;
  pinned.replicaIdToDevice[0] = manager.getDevice();
  EXPECT_EQ(
      ErrorOf([&] { ModelRunner(executable, pinned); }),
      "replicaIdToDevice names replica 0 with a device of 1 IPUs, the model needs 3: take one "
      "of getDevice(3)");
  pinned.replicaIdToDevice[0] = manager.getDevice(3);
  ModelRunner(executable, pinned);
  model->metadata.setNumIpus(static_cast<std::uint32_t>(all) + 1);
  const std::string problem = "the model needs " + std::to_string(all + 1) + " IPUs, there are " +
                              std::to_string(all) + ": set POPRT_NUM_IPUS";
  EXPECT_EQ(ErrorOf([&] { ModelRunner(executable, {}); }), problem);
  EXPECT_EQ(ErrorOf([&] { LightRunner(model, {}); }), problem);
  EXPECT_EQ(ErrorOf([&] { manager.getDevice(0); }),
            "getDevice was asked for 0 IPUs, this machine has " + std::to_string(all) +
                " (POPRT_NUM_IPUS says how many)");
}

TEST(PoprtModelRunnerTest, NamesEverythingThatIsWrongWithAConfiguration) {
  RuntimeConfig config;
  config.runnerType = RunnerType::PackRunner;
  config.replicaIdToDevice[0] = nullptr;
  config.replicaIdToDevice[1] = DeviceManager().getDevice();
  config.replicaIdToDevice[2] = config.replicaIdToDevice[1];
  const std::string number = std::to_string(config.replicaIdToDevice[1]->id());
  EXPECT_EQ(ErrorOf([&] { ModelRunner(Copy(), config); }),
            "runnerType is PackRunner: make a poprt::runtime::PackRunner with a PackRunnerConfig\n"
            "replicaIdToDevice names replica 0 without a device\n"
            "replicaIdToDevice names replica 2 with device " +
                number + ", which another replica has");
}

}  // namespace
}  // namespace poprt::runtime
