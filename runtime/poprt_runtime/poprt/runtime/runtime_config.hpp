#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "poprt/runtime/device_manager.hpp"
#include "poprt/runtime/device_wait_config.hpp"
#include "poprt/runtime/lightrunner_config.hpp"
#include "poprt/runtime/pack_runner_config.hpp"
#include "poprt/runtime/runner_type.hpp"
#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::runtime {

/// Configuration of a ModelRunner. Fields and defaults are those of PopRT; verifyWeights is our
/// own. Making a runner with values that cannot be served throws an error that names them.
struct RuntimeConfig {
  /// ModelRunner also serves fused models, ModelFusionRunner is the same. Packs are made by a
  /// PackRunner with a PackRunnerConfig.
  RunnerType runnerType = RunnerType::ModelRunner;
  /// How long to wait for all devices together.
  DeviceWaitConfig deviceWaitConfig;
  /// Runners may be used by several threads whatever this says; false is accepted for programs that
  /// set it.
  bool threadSafe = true;
  /// With batchingDim: how long the rows of an incomplete batch wait for others, from the first of
  /// them on; 0: for ever. Changes nothing otherwise: a request carries all its inputs.
  std::chrono::nanoseconds timeoutNS{10'000'000};
  /// A request must give exactly the tensors of the graph it runs; if not set, outputs may be left
  /// out and unknown tensors are ignored.
  bool validateIOParams = true;
  /// The dimension along which requests may have any number of rows: rows of several make a batch,
  /// what is missing after the timeout is filled with zeros, and each request gets exactly its
  /// rows. The default switches that off: requests have a multiple of the model's batch.
  std::uint32_t batchingDim = 0xFFFFFFFF;
  /// Refuse containers another version of the compiler has written.
  bool checkPackageHash = true;
  /// Read the whole executable when it is loaded and compare its hash: finds altered weights, but
  /// takes time in proportion to them.
  bool verifyWeights = false;
  /// Capacity of the queue of a replica, in steps: with this times the batches of a step queued,
  /// executeAsync waits until the device has taken some. At least 1.
  std::uint32_t ringBufferSizeMultiplier = 2;
  /// Reset the device after a fault that this heals (application_runtime_error, and
  /// recoverable_runtime_error with IPU_RESET): the request that ran gets the error, the next one
  /// runs after the reset. Otherwise, and after any other fault, every request that is queued or
  /// made later gets the error.
  bool autoReset = false;
  /// Flush incomplete batches only while a request waits for its outputs. Rows wait only as long as
  /// their request does, so this changes nothing here.
  bool flushOnWaitingOutputs = false;
  /// If isBatchSizeTimeoutEnabled, the rows of an incomplete batch wait for the longer of this and
  /// timeoutNS. The maximum: for ever.
  std::chrono::nanoseconds batchSizeTimeoutNS = std::chrono::nanoseconds::max();
  /// The time to wait for inputs that come in parallel. Changes nothing: those of a request come
  /// together.
  std::chrono::nanoseconds dataParallelTimeoutNS = std::chrono::nanoseconds::max();
  bool isBatchSizeTimeoutEnabled = false;
  /// How many requests are recorded, with flushOnWaitingOutputs; 0: all.
  std::uint32_t requestTracepointsBufferSize = 1000;
  /// One batch to fill incomplete batches from instead of zeros: of each input here, the last rows
  /// are used, and of each output here, the last rows receive what becomes of them. The memory must
  /// outlive the runner.
  std::pair<InputMemoryView, OutputMemoryView> flushByName;
  /// Devices of replicas, which must differ. There are as many replicas as the highest id says, 0
  /// to that; those without a device here take any that is free.
  std::map<std::uint32_t, std::shared_ptr<Device>> replicaIdToDevice;
};

/// JSON with sorted keys. replicaIdToDevice (device ids by replica id) and verifyWeights appear
/// only when they are set; flushByName never does.
std::string ToString(const RuntimeConfig& config);

}  // namespace poprt::runtime
