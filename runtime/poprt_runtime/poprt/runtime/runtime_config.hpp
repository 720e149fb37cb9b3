#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "poprt/runtime/device_manager.hpp"
#include "poprt/runtime/runtime_commons.hpp"

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

/// Configuration of a runner. Fields and defaults are those of PopRT; verifyWeights is our own.
///
/// Making a runner with a value that is not supported yet throws one std::runtime_error that names
/// all of them. Fields that say how long to wait for data, and what to do then, may have any value
/// and change nothing: a request carries all its inputs, so nothing ever waits for some.
struct RuntimeConfig {
  /// ModelRunner also serves fused models; PackRunner is refused for now.
  RunnerType runnerType = RunnerType::ModelRunner;
  DeviceWaitConfig deviceWaitConfig;
  /// Calls of several threads always take turns; false is accepted for programs that set it.
  bool threadSafe = true;
  /// The time a step waits for missing input. Changes nothing: no step waits.
  std::chrono::nanoseconds timeoutNS{10'000'000};
  /// A request must give exactly the tensors of the graph it runs; if not set, outputs may be left
  /// out and unknown tensors are ignored.
  bool validateIOParams = true;
  /// The dimension along which requests are merged and split. The default switches that off; other
  /// values are refused for now.
  std::uint32_t batchingDim = 0xFFFFFFFF;
  /// Refuse containers another version of the compiler has written.
  bool checkPackageHash = true;
  /// Read the whole executable when it is loaded and compare its hash: finds altered weights, but
  /// takes time in proportion to them.
  bool verifyWeights = false;
  /// Capacity of the queues of the original, in batches. Changes nothing: requests are queued, and
  /// their queue grows with them.
  std::uint32_t ringBufferSizeMultiplier = 2;
  /// Load the model again after a failed request; true is refused for now.
  bool autoReset = false;
  /// Flush only while a request waits for outputs. Changes nothing: nothing is flushed.
  bool flushOnWaitingOutputs = false;
  /// The time to wait for the rest of a batch, and for inputs in parallel, and whether these two
  /// count. Change nothing: no step waits.
  std::chrono::nanoseconds batchSizeTimeoutNS = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds dataParallelTimeoutNS = std::chrono::nanoseconds::max();
  bool isBatchSizeTimeoutEnabled = false;
  /// Size of the record of requests that flushing looks at. Changes nothing: nothing is flushed.
  std::uint32_t requestTracepointsBufferSize = 1000;
  /// Data to flush when a step has waited too long. Changes nothing: no step waits.
  std::pair<InputMemoryView, OutputMemoryView> flushByName;
  /// Pins the model to a device, by replica 0. There is no other replica.
  std::map<std::uint32_t, std::shared_ptr<Device>> replicaIdToDevice;
};

/// JSON with sorted keys. replicaIdToDevice (device ids by replica id) and verifyWeights appear
/// only when they are set; flushByName never does.
std::string ToString(const RuntimeConfig& config);

}  // namespace poprt::runtime
