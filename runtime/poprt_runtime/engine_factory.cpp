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
#include "runtime/device/joined_ipus.hpp"
#include "runtime/poprt_runtime/problem_list.hpp"

namespace poprt::runtime {
namespace {

using Devices = std::vector<std::shared_ptr<device::Device>>;
using ReplicaDevices = std::map<std::uint32_t, std::shared_ptr<Device>>;

/// That every replica needs.
std::uint64_t IpusOf(const popef::Model& model) {
  return std::max<std::uint64_t>(model.metadata.numIpus(), 1);
}

std::uint64_t NumReplicas(const ReplicaDevices& pinned) {
  return pinned.empty() ? 1 : std::uint64_t{pinned.rbegin()->first} + 1;
}

void CheckReplicas(const ReplicaDevices& pinned, std::uint32_t most, std::uint64_t ipus,
                   ProblemList& problems) {
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
    } else if (static_cast<std::uint64_t>(device->device()->num_ipus()) < ipus) {
      const std::string needed = std::to_string(ipus);
      problems.Add(subject + " with a device of " + std::to_string(device->device()->num_ipus()) +
                   " IPUs, the model needs " + needed + ": take one of getDevice(" + needed + ")");
    }
  }
}

/// Whether this machine has enough IPUs, free or not.
void CheckIpus(std::uint64_t replicas, std::uint64_t ipus, ProblemList& problems) {
  const auto available = static_cast<std::uint64_t>(device::DeviceRegistry::Get().size());
  if (ipus == 1 || replicas <= available / ipus) return;
  problems.Add("the model needs " + std::to_string(ipus) + " IPUs" +
               (replicas > 1 ? " for each of " + std::to_string(replicas) + " replicas" : "") +
               ", there are " + std::to_string(available) + ": set POPRT_NUM_IPUS");
}

/// A device for each replica up to the last one that is pinned: free ones for those that are not.
/// Takes these at once: processes that took them one by one could wait for each other.
Devices DevicesOf(const ReplicaDevices& pinned, std::uint64_t ipus, const DeviceWaitConfig& wait) {
  // Many more seconds than this do not fit into nanoseconds.
  constexpr std::chrono::seconds kForever = std::chrono::hours(24 * 365);
  Devices devices(NumReplicas(pinned));
  for (const auto& [replica, device] : pinned) devices[replica] = device->device();
  const auto missing =
      static_cast<std::uint64_t>(std::count(devices.begin(), devices.end(), nullptr));
  if (missing == 0) return devices;
  Devices free =
      device::JoinIpus(device::DeviceRegistry::Get().AcquireSeveral(
                           static_cast<int>(missing * ipus),
                           std::clamp(wait.timeoutSec, std::chrono::seconds(0), kForever)),
                       ipus);
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
  const std::uint64_t ipus = IpusOf(*executable.getPopefModel());
  CheckReplicas(config.replicaIdToDevice, device::DeviceRegistry::Get().size(), ipus, problems);
  if (problems.empty()) CheckIpus(NumReplicas(config.replicaIdToDevice), ipus, problems);
  problems.Throw();
  return std::make_unique<model_runtime::Engine>(
      executable.getPopefModel(),
      DevicesOf(config.replicaIdToDevice, ipus, config.deviceWaitConfig), EngineConfigOf(config));
}

std::unique_ptr<model_runtime::Engine> MakeEngine(const Executable& executable,
                                                  const PackRunnerConfig& config) {
  ProblemList problems;
  const std::uint64_t ipus = IpusOf(*executable.getPopefModel());
  CheckIpus(1, ipus, problems);
  problems.Throw();
  return std::make_unique<model_runtime::Engine>(executable.getPopefModel(),
                                                 DevicesOf({}, ipus, config.deviceWaitConfig),
                                                 model_runtime::EngineConfig{});
}

std::unique_ptr<model_runtime::Engine> MakeEngine(const std::shared_ptr<popef::Model>& model,
                                                  const LightRunnerConfig& config) {
  ReplicaDevices pinned = config.replicaIdToDevice;
  pinned.insert(config.replica_to_device.begin(), config.replica_to_device.end());
  ProblemList problems;
  const std::uint64_t ipus = IpusOf(*model);
  CheckReplicas(pinned, 1, ipus, problems);
  if (problems.empty()) CheckIpus(1, ipus, problems);
  problems.Throw();
  return std::make_unique<model_runtime::Engine>(
      model, DevicesOf(pinned, ipus, config.deviceWaitConfig),
      model_runtime::EngineConfig{.check_package_hash = config.checkPackageHash});
}

}  // namespace poprt::runtime
