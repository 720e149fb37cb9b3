#include "poprt/runtime/lightrunner.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "poprt/runtime/device_manager.hpp"
#include "runtime/poprt_runtime/test_containers.hpp"

namespace poprt::runtime {
namespace {

using Vector = std::array<float, 4>;

constexpr Vector kOnes{1, 1, 1, 1};
constexpr Vector kNew{5, 6, 7, 8};

ConstTensorMemoryView View(const Vector& values) { return {values.data(), sizeof(values)}; }

Vector RunOnes(LightRunner& runner) {
  Vector y{};
  runner.execute({{"x", View(kOnes)}}, {{"y", {y.data(), sizeof(y)}}});
  return y;
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(LightRunnerTest, UpdatesWeights) {
  LightRunner runner(test::VariableModel());
  EXPECT_EQ(RunOnes(runner), (Vector{1, 2, 3, 4}));
  runner.setInputAnchor("w", View(kNew));
  EXPECT_EQ(RunOnes(runner), (Vector{1, 2, 3, 4}));
  runner.updateWeights();
  EXPECT_EQ(RunOnes(runner), kNew);
  Vector y{};
  auto futures = runner.executeAsync({{"x", View(kOnes)}}, {{"y", {y.data(), sizeof(y)}}});
  EXPECT_EQ(futures.at("y").get().data, y.data());
  EXPECT_EQ(y, kNew);
  EXPECT_NE(ErrorOf([&] { runner.setInputAnchor("v", View(kNew)); }), "");
  EXPECT_NE(ErrorOf([&] { runner.setInputAnchor("w", {kNew.data(), 8}); }), "");
}

TEST(LightRunnerTest, StopsHoweverManyRequestsThereAre) {
  LightRunner runner(test::VariableModel());
  std::vector<std::string> errors(8);
  std::atomic<std::size_t> served = 0;
  std::vector<std::thread> clients;
  clients.reserve(errors.size());
  for (std::string& error : errors) {
    clients.emplace_back([&] {
      while (error.empty()) {
        error = ErrorOf([&] { RunOnes(runner); });
        ++served;
      }
    });
  }
  while (served < errors.size()) std::this_thread::yield();
  runner.stop();
  for (std::thread& client : clients) client.join();
  for (const std::string& error : errors) {
    EXPECT_EQ(error, "the runner is stopped: call reload() first");
  }
  runner.reload();
  EXPECT_EQ(RunOnes(runner), (Vector{1, 2, 3, 4}));
}

TEST(LightRunnerTest, WaitsForADeviceAsLongAsAnyoneLikes) {
  LightRunnerConfig config;
  config.deviceWaitConfig.timeoutSec = std::chrono::seconds::max();
  LightRunner runner(test::VariableModel(), config);
  EXPECT_EQ(RunOnes(runner), (Vector{1, 2, 3, 4}));
}

TEST(LightRunnerTest, TellsWeightsFromInputs) {
  const LightRunner runner(std::make_shared<Executable>(test::VariableModel()));
  ASSERT_EQ(runner.getExecuteInputs().size(), 1U);
  EXPECT_EQ(runner.getExecuteInputs()[0].name, "x");
  int weights = 0;
  for (const InputDesc& input : runner.getModelInputs()) {
    EXPECT_EQ(input.popefContainsTensorData, input.name == "w");
    if (input.popefContainsTensorData) ++weights;
  }
  EXPECT_EQ(weights, 1);
  EXPECT_EQ(runner.getExecuteOutputs().size(), 1U);
  EXPECT_EQ(runner.outputsFor({{"x", View(kOnes)}})[0].sizeInBytes, 16);
  EXPECT_EQ(runner.describe("y")->shape, (std::vector<std::int64_t>{4}));
}

TEST(LightRunnerTest, StopFreesTheDeviceAndReloadKeepsTheWeights) {
  const DeviceManager manager;
  LightRunner runner(test::VariableModel());
  runner.setInputAnchor("w", View(kNew));
  runner.updateWeights();
  std::vector<std::shared_ptr<Device>> others;
  others.reserve(manager.getNumDevices());
  for (int i = 1; i < manager.getNumDevices(); ++i) others.push_back(manager.getDevice());
  EXPECT_NE(ErrorOf([&] { manager.getDevice(); }), "");
  runner.stop();
  EXPECT_EQ(ErrorOf([&] { RunOnes(runner); }), "the runner is stopped: call reload() first");
  EXPECT_EQ(ErrorOf([&] { runner.updateWeights(); }), "the runner is stopped: call reload() first");
  EXPECT_EQ(runner.getModelInputs().size(), 2U);
  {
    LightRunner another(test::VariableModel());
    EXPECT_EQ(RunOnes(another), (Vector{1, 2, 3, 4}));
  }
  runner.reload();
  EXPECT_EQ(RunOnes(runner), kNew);
  runner.reload();
  EXPECT_EQ(RunOnes(runner), kNew);
}

TEST(LightRunnerTest, UsesThePinnedDevice) {
  LightRunnerConfig config;
  config.replica_to_device.emplace(0, DeviceManager().getDevice(1));
  LightRunner runner(test::VariableModel(), config);
  runner.stop();
  LightRunner another(test::VariableModel(), config);
  another.stop();
  runner.reload();
  EXPECT_EQ(RunOnes(runner), (Vector{1, 2, 3, 4}));
  config.replicaIdToDevice.emplace(1, config.replica_to_device.at(0));
  config.replica_to_device.clear();
  EXPECT_EQ(ErrorOf([&] { LightRunner(test::VariableModel(), config); }),
            "replicaIdToDevice names replica 1, allowed are 0 to 0");
}

/// Requests see the old weights or the new ones, never a mixture.
TEST(LightRunnerTest, WeightsChangeBetweenRequests) {
  LightRunner runner(test::VariableModel());
  const Vector low{1, 1, 1, 1}, high{2, 2, 2, 2};
  runner.setInputAnchor("w", View(low));
  runner.updateWeights();
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  clients.reserve(3);
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&] {
      while (!done) {
        const Vector y = RunOnes(runner);
        if (y != low && y != high) ++wrong;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    runner.setInputAnchor("w", View(i % 2 == 0 ? high : low));
    runner.updateWeights();
  }
  done = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace poprt::runtime
