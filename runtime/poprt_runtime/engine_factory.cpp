#include "runtime/poprt_runtime/engine_factory.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device_registry.hpp"
#include "runtime/poprt_runtime/problem_list.hpp"

namespace poprt::runtime {
namespace {

using Devices = std::vector<std::shared_ptr<device::Device>>;
using ReplicaDevices = std::map<std::uint32_t, std::shared_ptr<Device>>;

void CheckReplicas(const ReplicaDevices& pinned, std::uint32_t most, ProblemList& problems) {
  std::set<int> taken;
  for (const auto& [replica, device] : pinned) {
    const std::string subject = "replicaIdToDevice names replica " + std::to_string(replica);
    if (device == nullptr || device->device() == nullptr) {
      problems.Add(subject + " without a device");
    } else if (replica >= most) {
      problems.Add(subject + ", allowed are 0 to " + std::to_string(most - 1));
    } else if (!taken.insert(device->id()).second) {
      problems.Add(subject + " with device " + std::to_string(device->id()) +
                   ", which another replica has");
    }
  }
}

/// A device for each replica up to the last one that is pinned: free ones for those that are not.
/// Takes these at once: processes that took them one by one could wait for each other.
Devices DevicesOf(const ReplicaDevices& pinned, const DeviceWaitConfig& wait) {
  // Many more seconds than this do not fit into nanoseconds.
  constexpr std::chrono::seconds kForever = std::chrono::hours(24 * 365);
  Devices devices(pinned.empty() ? 1 : pinned.rbegin()->first + 1);
  for (const auto& [replica, device] : pinned) devices[replica] = device->device();
  const std::ptrdiff_t missing = std::count(devices.begin(), devices.end(), nullptr);
  if (missing == 0) return devices;
  Devices free = device::DeviceRegistry::Get().AcquireSeveral(
      static_cast<int>(missing), std::clamp(wait.timeoutSec, std::chrono::seconds(0), kForever));
  auto next = free.begin();
  for (auto& device : devices) {
    if (device == nullptr) device = std::move(*next++);
  }
  return devices;
}

model_runtime::InputMemoryView Converted(const InputMemoryView& views) {
  model_runtime::InputMemoryView result;
  for (const auto& [name, view] : views) result[name] = {view.data, view.dataSizeBytes};
  return result;
}

model_runtime::OutputMemoryView Converted(const OutputMemoryView& views) {
  model_runtime::OutputMemoryView result;
  for (const auto& [name, view] : views) result[name] = {view.data, view.dataSizeBytes};
  return result;
}

model_runtime::EngineConfig EngineConfigOf(const RuntimeConfig& config) {
  return {
      .validate_io_params = config.validateIOParams,
      .check_package_hash = config.checkPackageHash,
      .verify_weights = config.verifyWeights,
      .batching_dim = config.batchingDim,
      .timeout_ns = config.timeoutNS,
      .is_batch_size_timeout_enabled = config.isBatchSizeTimeoutEnabled,
      .batch_size_timeout_ns = config.batchSizeTimeoutNS,
      .auto_reset = config.autoReset,
      .ring_buffer_size_multiplier = config.ringBufferSizeMultiplier,
      .flush_on_waiting_outputs = config.flushOnWaitingOutputs,
      .request_tracepoints_buffer_size = config.requestTracepointsBufferSize,
      .frozen_inputs = {},
      .flush_by_name = {Converted(config.flushByName.first), Converted(config.flushByName.second)}};
}

}  // namespace

std::unique_ptr<model_runtime::Engine> MakeEngine(const Executable& executable,
                                                  const RuntimeConfig& config) {
  ProblemList problems;
  if (config.runnerType == RunnerType::PackRunner) {
    problems.Add(
        "runnerType is PackRunner: make a poprt::runtime::PackRunner with a PackRunnerConfig");
  }
  CheckReplicas(config.replicaIdToDevice, device::DeviceRegistry::Get().size(), problems);
  problems.Throw();
  return std::make_unique<model_runtime::Engine>(
      executable.getPopefModel(), DevicesOf(config.replicaIdToDevice, config.deviceWaitConfig),
      EngineConfigOf(config));
}

std::unique_ptr<model_runtime::Engine> MakeEngine(const Executable& executable,
                                                  const PackRunnerConfig& config) {
  return std::make_unique<model_runtime::Engine>(executable.getPopefModel(),
                                                 DevicesOf({}, config.deviceWaitConfig),
                                                 model_runtime::EngineConfig{});
}

std::unique_ptr<model_runtime::Engine> MakeEngine(const std::shared_ptr<popef::Model>& model,
                                                  const LightRunnerConfig& config) {
  ReplicaDevices pinned = config.replicaIdToDevice;
  pinned.insert(config.replica_to_device.begin(), config.replica_to_device.end());
  ProblemList problems;
  CheckReplicas(pinned, 1, problems);
  problems.Throw();
  return std::make_unique<model_runtime::Engine>(
      model, DevicesOf(pinned, config.deviceWaitConfig),
      model_runtime::EngineConfig{.check_package_hash = config.checkPackageHash});
}

}  // namespace poprt::runtime
