#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "poprt/runtime/device_manager.hpp"

namespace poprt::runtime {

/// Runners a configuration can ask for.
enum class RunnerType { ModelRunner = 0, PackRunner, ModelFusionRunner };

/// How long to wait for a free device.
struct DeviceWaitConfig {
  DeviceWaitConfig() = default;
  DeviceWaitConfig(int timeout, int sleepTime)
      : timeoutSec(std::chrono::seconds(timeout)), sleepTimeSec(std::chrono::seconds(sleepTime)) {}

  std::chrono::seconds timeoutSec{1};
  /// A released device wakes the waiting thread at once, whatever the interval.
  std::chrono::seconds sleepTimeSec{6};
};

/// Configuration of a runner. Fields and defaults are those of PopRT.
struct RuntimeConfig {
  /// ModelRunner also serves fused models; PackRunner is refused for now.
  RunnerType runnerType = RunnerType::ModelRunner;
  DeviceWaitConfig deviceWaitConfig;
  /// Calls of several threads always take turns; false is accepted for programs that set it.
  bool threadSafe = true;
  /// The time a step waits for missing input. Requests carry all their inputs, so no step waits.
  std::chrono::nanoseconds timeoutNS{10'000'000};
  /// A request must give exactly the tensors of the graph it runs; if not set, outputs may be left
  /// out and unknown tensors are ignored.
  bool validateIOParams = true;
  /// The largest value switches batching off; others are refused for now.
  std::uint32_t batchingDim = 0xFFFFFFFF;
  /// Refuse containers another version of the compiler has written.
  bool checkPackageHash = true;
  /// Pins the model to a device, by replica 0.
  std::map<std::uint32_t, std::shared_ptr<Device>> replicaIdToDevice;
};

/// JSON with sorted keys.
std::string ToString(const RuntimeConfig& config);

}  // namespace poprt::runtime
