#include "model_runtime/serving/replica.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/Executable.hpp"
#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/serving/engine.hpp"
#include "model_runtime/serving/test_models.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/device/faulty_device.hpp"

namespace model_runtime {
namespace {

using Floats = std::vector<float>;
using poprt::device::PlanDeviceFaults;
using testing::HasSubstr;

std::shared_ptr<popef::Model> Model() {
  return ModelOf(ProgramOf({SumBranch("model", "", {2}, 0)}));
}

const Floats kInput{1, 2};
const Floats kResult{4, 5};

InputMemoryView In() { return {{"x", {kInput.data(), kInput.size() * sizeof(float)}}}; }

Floats Values(const TensorMemory& memory) {
  const auto* begin = static_cast<const float*>(memory.data.get());
  return {begin, begin + memory.data_size_bytes / sizeof(float)};
}

/// A runner whose devices have faults.
ModelRunner Faulty(const std::string& plan, const ModelRunnerConfig& config = {}) {
  PlanDeviceFaults(plan);
  ModelRunner runner(Model(), config);
  PlanDeviceFaults(std::nullopt);
  return runner;
}

ModelRunnerConfig AutoReset() {
  ModelRunnerConfig config;
  config.auto_reset = true;
  return config;
}

/// "ok", or the class of the error.
template <typename Action>
std::string Outcome(Action action) {
  try {
    action();
  } catch (const application_runtime_error&) {
    return "application";
  } catch (const recoverable_runtime_error& error) {
    return "recoverable " + toString(error.recoveryAction());
  } catch (const unknown_runtime_error&) {
    return "unknown";
  } catch (const Error& error) {
    return error.what();
  }
  return "ok";
}

std::string RunOnce(ModelRunner& runner, unsigned replica = 0) {
  return Outcome([&] { EXPECT_EQ(Values(runner.execute(In(), replica).at("y")), kResult); });
}

TEST(ReplicaTest, FaultsAreDeliveredAndStay) {
  ModelRunner runner = Faulty("2:application_runtime_error");
  EXPECT_EQ(RunOnce(runner), "ok");
  EXPECT_EQ(RunOnce(runner), "application");
  EXPECT_EQ(RunOnce(runner), "application");
  EXPECT_EQ(Outcome([&] { runner.executeAsync(In()).at("y").get(); }), "application");
}

TEST(ReplicaTest, FaultsReachFutures) {
  ModelRunner runner = Faulty("2:recoverable_runtime_error/FULL_RESET");
  std::vector<std::shared_future<TensorMemory>> futures(4);
  for (auto& future : futures) future = runner.executeAsync(In()).at("y");
  std::vector<std::string> outcomes;
  outcomes.reserve(futures.size());
  for (auto& future : futures) outcomes.push_back(Outcome([&] { future.get(); }));
  const std::string fault = "recoverable FULL_RESET";
  EXPECT_EQ(outcomes, (std::vector<std::string>{"ok", fault, fault, fault}));
}

TEST(ReplicaTest, AutoResetHealsWhatAResetHeals) {
  ModelRunner runner = Faulty(
      "2:application_runtime_error,4:recoverable_runtime_error/IPU_RESET,"
      "6:recoverable_runtime_error/PARTITION_RESET",
      AutoReset());
  std::vector<std::string> outcomes(7);
  for (std::string& outcome : outcomes) outcome = RunOnce(runner);
  EXPECT_EQ(outcomes, (std::vector<std::string>{"ok", "application", "ok", "recoverable IPU_RESET",
                                                "ok", "recoverable PARTITION_RESET",
                                                "recoverable PARTITION_RESET"}));
}

TEST(ReplicaTest, OtherErrorsStayInSpiteOfAutoReset) {
  ModelRunner unknown = Faulty("1:unknown_runtime_error", AutoReset());
  EXPECT_EQ(RunOnce(unknown), "unknown");
  EXPECT_EQ(RunOnce(unknown), "unknown");
  ModelRunner other = Faulty("1:runtime_error", AutoReset());
  EXPECT_THAT(RunOnce(other), HasSubstr("planned fault runtime_error in run 1"));
  EXPECT_THAT(RunOnce(other), HasSubstr("planned fault runtime_error in run 1"));
}

TEST(ReplicaTest, AutoResetLoadsVariablesAgain) {
  using poprt::program::Space;
  const poprt::TensorType type{poprt::ElementType::kFloat32, {2}};
  auto program = ProgramOf({{.name = "model",
                             .slots = {{type, Space::kArena, 0},
                                       {type, Space::kVariables, 0},
                                       {type, Space::kArena, 64}},
                             .inputs = {{"x", 0}},
                             .outputs = {{"y", 2}},
                             .steps = {{"add", "Add", {0, 1}, {2}, {}}},
                             .arena_bytes = 128}});
  program.variables = {{"w", type, 0}};
  PlanDeviceFaults("2*:application_runtime_error");
  Engine engine(ModelOf(program), poprt::device::DeviceRegistry::Get().Acquire(),
                {.auto_reset = true});
  PlanDeviceFaults(std::nullopt);
  const auto run = [&] {
    Floats y(2);
    engine.Execute(std::array{InputBuffer{"x", kInput.data(), 8}},
                   std::array{OutputBuffer{"y", y.data(), 8}});
    return y;
  };
  EXPECT_EQ(run(), (Floats{2, 3}));
  const Floats updated{10, 20};
  engine.SetVariable("w", {updated.data(), 8});
  EXPECT_THROW(run(), application_runtime_error);
  EXPECT_EQ(run(), (Floats{11, 22}));
  const Floats again{30, 40};
  engine.SetVariable("w", {again.data(), 8});
  engine.LoadVariables();
  EXPECT_THROW(run(), application_runtime_error);
  EXPECT_EQ(run(), (Floats{31, 42}));
  ASSERT_EQ(engine.model_inputs().size(), 2U);
  EXPECT_TRUE(engine.model_inputs()[1].popef_contains_tensor_data);
  EXPECT_EQ(engine.inputs().size(), 1U);
  EXPECT_EQ(engine.outputs().size(), 1U);
  EXPECT_EQ(engine.model_outputs().size(), 2U);
}

TEST(ReplicaTest, FrozenInputsReplaceVariables) {
  using poprt::program::Space;
  const poprt::TensorType type{poprt::ElementType::kFloat32, {2}};
  auto program = ProgramOf({{.name = "model",
                             .slots = {{type, Space::kArena, 0},
                                       {type, Space::kVariables, 0},
                                       {type, Space::kArena, 64}},
                             .inputs = {{"x", 0}},
                             .outputs = {{"y", 2}},
                             .steps = {{"add", "Add", {0, 1}, {2}, {}}},
                             .arena_bytes = 128}});
  program.variables = {{"w", type, 0}};
  const Floats w{5, 6};
  ModelRunnerConfig config;
  config.frozen_inputs = {{"w", {w.data(), 8}}};
  ModelRunner runner(ModelOf(program), config);
  EXPECT_EQ(Values(runner.execute(In()).at("y")), (Floats{6, 8}));
}

TEST(ReplicaTest, InputsMayHaveTensorData) {
  using poprt::program::Space;
  const poprt::TensorType type{poprt::ElementType::kFloat32, {2}};
  const auto model = ModelOf(ProgramOf({{.name = "model",
                                         .slots = {{type, Space::kArena, 0},
                                                   {type, Space::kArena, 64},
                                                   {type, Space::kArena, 128}},
                                         .inputs = {{"x", 0}, {"w", 1}},
                                         .outputs = {{"y", 2}},
                                         .steps = {{"add", "Add", {0, 1}, {2}, {}}},
                                         .arena_bytes = 192}}),
                             {{"w", {2}}});
  ModelRunner runner(model);
  ASSERT_EQ(runner.getExecuteInputs().size(), 1U);
  ASSERT_EQ(runner.getModelInputs().size(), 2U);
  EXPECT_TRUE(runner.getModelInputs()[1].popef_contains_tensor_data);
  EXPECT_EQ(Values(runner.execute(In()).at("y")), (Floats{2, 3}));
  const Floats w{10, 20};
  InputMemoryView both = In();
  both["w"] = {w.data(), 8};
  EXPECT_EQ(Values(runner.execute(both).at("y")), (Floats{11, 22}));
  ModelRunnerConfig config;
  config.frozen_inputs = {{"w", {w.data(), 8}}};
  ModelRunner frozen(model, config);
  EXPECT_EQ(Values(frozen.execute(In()).at("y")), (Floats{11, 22}));
}

TEST(ReplicaTest, ReplicasFaultAlone) {
  ModelRunnerConfig config;
  config.replication_factor = 3;
  PlanDeviceFaults("1@1:application_runtime_error");
  std::vector<std::string> outcomes;
  {
    ModelRunner runner(Model(), config);
    for (unsigned replica = 0; replica < 3; ++replica) outcomes.push_back(RunOnce(runner, replica));
    EXPECT_EQ(RunOnce(runner, 3), "replica_id is 3, allowed are 0 to 2: there are 3 replicas");
    EXPECT_EQ(Outcome([&] { runner.executeAsync(In(), 4); }),
              "replica_id is 4, allowed are 0 to 2: there are 3 replicas");
  }
  PlanDeviceFaults(std::nullopt);
  EXPECT_EQ(std::ranges::count(outcomes, "ok"), 2);
  EXPECT_EQ(std::ranges::count(outcomes, "application"), 1);
}

TEST(ReplicaTest, ReplicasHaveTheDevicesTheyAreGiven) {
  ModelRunnerConfig config;
  config.replication_factor = 2;
  PlanDeviceFaults("2@1:application_runtime_error");
  config.replica_id_to_device[1] = DeviceManager().getSpecificDevice(2);
  PlanDeviceFaults(std::nullopt);
  ModelRunner runner(Model(), config);
  EXPECT_EQ(RunOnce(runner, 0), "ok");
  EXPECT_EQ(RunOnce(runner, 1), "application");
  config.replica_id_to_device[0] = config.replica_id_to_device[1];
  config.replica_id_to_device[2] = nullptr;
  EXPECT_EQ(Outcome([&] { ModelRunner(Model(), config); }),
            "a model runner has the device: destroy it first, or take another device\n"
            "replica_id_to_device names replica 1 with the device of replica 0, every replica "
            "needs one of its own\n"
            "replica_id_to_device names replica 2, allowed are 0 to 1");
}

TEST(ReplicaTest, ADeviceThatARunnerHasIsNobodyElses) {
  const char* const taken =
      "a model runner has the device: destroy it first, or take another device";
  ModelRunnerConfig config;
  config.replica_id_to_device[0] = DeviceManager().getSpecificDevice(2);
  Executable executable(Model());
  executable.load(config.replica_id_to_device[0]);
  {
    ModelRunner runner(Model(), config);  // takes it from the executable
    EXPECT_FALSE(executable.isLoaded());
    EXPECT_EQ(Outcome([&] { executable.load(config.replica_id_to_device[0]); }), taken);
    EXPECT_EQ(Outcome([&] { ModelRunner(Model(), config); }), taken);
    EXPECT_EQ(RunOnce(runner), "ok");
  }
  ModelRunner runner(Model(), config);
  EXPECT_EQ(RunOnce(runner), "ok");
}

/// Submits the same request, one at a time, until `done` is called on this thread. The first run is
/// never known to be short, others may come before the queue is idle again: how many times it took.
std::optional<int> SubmissionsUntilHere(std::chrono::nanoseconds short_run, int most) {
  EngineConfig config;
  config.short_run_ns = short_run;
  Engine engine(Model(), poprt::device::DeviceRegistry::Get().Acquire(), config);
  Floats y(kResult.size());
  const std::array input{InputBuffer{"x", kInput.data(), kInput.size() * sizeof(float)}};
  const std::array output{OutputBuffer{"y", y.data(), y.size() * sizeof(float)}};
  for (int i = 1; i <= most; ++i) {
    std::promise<std::thread::id> answered_by;
    engine.Submit(input, output, [&](const std::exception_ptr& error) {
      EXPECT_EQ(error, nullptr);
      answered_by.set_value(std::this_thread::get_id());
    });
    const bool here = answered_by.get_future().get() == std::this_thread::get_id();
    EXPECT_EQ(y, kResult);
    if (here) return i;
  }
  return std::nullopt;
}

TEST(ReplicaTest, ShortRequestsRunWhereTheyAreSubmitted) {
  EXPECT_GT(SubmissionsUntilHere(std::chrono::hours(1), 10'000), 1);
}

TEST(ReplicaTest, OthersRunInTheQueue) {
  EXPECT_EQ(SubmissionsUntilHere(std::chrono::nanoseconds(0), 100), std::nullopt);
}

TEST(ReplicaTest, MoreReplicasThanDevicesAreRefused) {
  ModelRunnerConfig config;
  config.replication_factor = 0;
  EXPECT_EQ(Outcome([&] { ModelRunner(Model(), config); }),
            "replication_factor is 0, allowed are 1 and more");
  config.replication_factor = 5000;
  EXPECT_THAT(Outcome([&] { ModelRunner(Model(), config); }),
              HasSubstr("replication_factor is 5000, there are "));
  config = {};
  config.ring_buffer_size_multiplier = 0;
  config.timeout_ns = std::chrono::nanoseconds(-1);
  EXPECT_EQ(Outcome([&] { ModelRunner(Model(), config); }),
            "ring_buffer_size_multiplier is 0, allowed are 1 and more\n"
            "timeout_ns is -1, allowed are 0 and more");
}

TEST(ReplicaTest, DestructionAnswersEveryRequest) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::shared_future<TensorMemory>> futures;
    {
      ModelRunnerConfig config;
      config.ring_buffer_size_multiplier = 64;
      ModelRunner runner(Model(), config);
      for (int i = 0; i < 40; ++i) futures.push_back(runner.executeAsync(In()).at("y"));
    }
    bool destroyed = false;
    for (auto& future : futures) {
      const std::string outcome = Outcome([&] { EXPECT_EQ(Values(future.get()), kResult); });
      EXPECT_TRUE(outcome == "ok" || outcome == "the runner was destroyed before the request ran")
          << outcome;
      EXPECT_FALSE(destroyed && outcome == "ok") << "in the order of submission";
      destroyed = outcome != "ok";
    }
  }
}

TEST(ReplicaTest, AFullQueueMakesSubmissionWait) {
  ModelRunnerConfig config;
  config.ring_buffer_size_multiplier = 1;
  ModelRunner runner(Model(), config);
  std::vector<std::thread> threads(3);
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      std::vector<std::shared_future<TensorMemory>> futures(100);
      for (auto& future : futures) future = runner.executeAsync(In()).at("y");
      for (auto& future : futures) EXPECT_EQ(Values(future.get()), kResult);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ReplicaTest, ExecuteComesAfterWhatIsQueued) {
  ModelRunnerConfig config;
  config.flush_on_waiting_outputs = true;
  ModelRunner runner(Model(), config);
  for (int i = 0; i < 50; ++i) {
    auto first = runner.executeAsync(In()).at("y");
    EXPECT_EQ(RunOnce(runner), "ok");
    EXPECT_EQ(first.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  }
  const std::vector<RequestTracepoint> log = runner.requestTracepoints();
  ASSERT_EQ(log.size(), 100U);
  for (std::size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].id, i);
    EXPECT_EQ(log[i].state, RequestState::Succeeded);
    EXPECT_LE(log[i].queued, log[i].started);
    EXPECT_LE(log[i].started, log[i].finished);
    EXPECT_LE(log[i == 0 ? 0 : i - 1].finished, log[i].finished);
  }
}

TEST(ReplicaTest, RemembersTheLastRequests) {
  ModelRunnerConfig config;
  config.flush_on_waiting_outputs = true;
  config.request_tracepoints_buffer_size = 2;
  ModelRunner runner = Faulty("3:application_runtime_error", config);
  for (int i = 0; i < 3; ++i) RunOnce(runner);
  const std::vector<RequestTracepoint> log = runner.requestTracepoints();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].id, 1U);
  EXPECT_EQ(log[0].state, RequestState::Succeeded);
  EXPECT_EQ(log[1].id, 2U);
  EXPECT_EQ(log[1].state, RequestState::Failed);
}

TEST(ReplicaTest, AFaultFailsRowsThatWait) {
  ModelRunnerConfig config;
  config.batching_dim = 0;
  config.timeout_ns = std::chrono::nanoseconds(0);
  ModelRunner runner = Faulty("1:application_runtime_error", config);
  const Floats one{1};
  auto waiting = runner.executeAsync({{"x", {one.data(), 4}}}).at("y");
  EXPECT_EQ(RunOnce(runner), "application");
  EXPECT_EQ(Outcome([&] { waiting.get(); }), "application");
}

TEST(ReplicaTest, WithoutOutputsSubmissionIsExecution) {
  ModelRunnerConfig config;
  config.validate_io_params = false;
  config.flush_on_waiting_outputs = true;
  ModelRunner runner = Faulty("2:application_runtime_error", config);
  EXPECT_TRUE(runner.executeAsync(In(), OutputMemoryView()).empty());
  ASSERT_EQ(runner.requestTracepoints().size(), 1U);
  EXPECT_EQ(runner.requestTracepoints()[0].state, RequestState::Succeeded);
  EXPECT_EQ(Outcome([&] { runner.executeAsync({}, OutputMemoryView()); }),
            "input 'x' of graph 'model' is missing");
  EXPECT_EQ(Outcome([&] { runner.executeAsync(In(), OutputMemoryView()); }), "application");
}

TEST(ReplicaTest, RefusedRequestsFillTheQueue) {
  EngineConfig config;
  config.ring_buffer_size_multiplier = 1;
  Engine engine(Model(), poprt::device::DeviceRegistry::Get().Acquire(), config);
  std::promise<void> taken, go_on;
  engine.Submit({}, {}, [&](const std::exception_ptr&) {
    taken.set_value();
    go_on.get_future().wait();
  });
  taken.get_future().wait();
  std::atomic<int> refused{0};
  const auto submit = [&] {
    engine.Submit({}, {}, [&](const std::exception_ptr& error) { refused += error != nullptr; });
  };
  submit();
  std::future<void> waits = std::async(std::launch::async, submit);
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  go_on.set_value();
  waits.get();
  const Floats x(2);
  Floats y(2);
  engine.Execute(std::array{InputBuffer{"x", x.data(), 8}},
                 std::array{OutputBuffer{"y", y.data(), 8}});  // comes after them
  EXPECT_EQ(refused, 2);
}

TEST(ReplicaTest, DestructionEndsAnExecuteThatWaits) {
  ModelRunnerConfig config;
  config.batching_dim = 0;
  config.timeout_ns = std::chrono::nanoseconds(0);
  config.flush_on_waiting_outputs = true;
  auto runner = std::make_unique<ModelRunner>(Model(), config);
  const Floats one{1};
  ModelRunner& called = *runner;
  std::future<std::string> outcome = std::async(std::launch::async, [&] {
    return Outcome([&] { called.execute({{"x", {one.data(), 4}}}); });
  });
  const auto runs = [&] {
    const std::vector<RequestTracepoint> log = runner->requestTracepoints();
    return !log.empty() && log[0].state == RequestState::Running;
  };
  while (!runs()) std::this_thread::yield();
  runner.reset();
  EXPECT_EQ(outcome.get(), "the runner was destroyed before the request ran");
}

}  // namespace
}  // namespace model_runtime
