#include "model_runtime/serving/replica_devices.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/Errors.hpp"
#include "model_runtime/session/device_use.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/device/joined_ipus.hpp"

namespace model_runtime {

using poprt::device::DeviceRegistry;

namespace {

using Devices = std::vector<std::shared_ptr<poprt::device::Device>>;

/// A replica's hold on a device that the configuration names.
class PinnedDevice : public DeviceUser {
 public:
  explicit PinnedDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  bool yields() const override { return false; }
  void GiveUp(const DeviceUse&) override {}

 private:
  const std::shared_ptr<Device> device_;
};

/// The IPU of a device that the configuration names, for its owner alone.
std::shared_ptr<poprt::device::Device> Pin(const std::shared_ptr<Device>& device) {
  auto pinned = std::make_shared<PinnedDevice>(device);
  device->use().Claim(pinned);
  return {std::move(pinned), &device->use().device()};
}

std::size_t IpusOf(const popef::Metadata& metadata) {
  return std::max<std::size_t>(metadata.numIpus(), 1);
}

/// What is wrong with the device of a replica; "" if nothing is.
std::string ProblemWith(const popef::Metadata& metadata, const ModelRunnerConfig& config,
                        unsigned replica) {
  const std::shared_ptr<Device>& device = config.replica_id_to_device.at(replica);
  const std::string entry = "replica_id_to_device names replica " + std::to_string(replica);
  if (replica >= config.replication_factor) {
    return entry + ", allowed are 0 to " + std::to_string(config.replication_factor - 1);
  }
  if (device == nullptr) return entry + " without a device";
  for (const auto& [other, others_device] : config.replica_id_to_device) {
    if (other < replica && others_device == device) {
      return entry + " with the device of replica " + std::to_string(other) +
             ", every replica needs one of its own";
    }
  }
  try {
    device->use().Check(metadata);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void CheckConfig(const popef::Metadata& metadata, const ModelRunnerConfig& config) {
  if (config.replication_factor == 0) {
    throw Error("replication_factor is 0, allowed are 1 and more");
  }
  std::string problems;
  for (const auto& [replica, device] : config.replica_id_to_device) {
    const std::string problem = ProblemWith(metadata, config, replica);
    if (!problem.empty()) problems += (problems.empty() ? "" : "\n") + problem;
  }
  const std::size_t wanted = config.replication_factor - config.replica_id_to_device.size();
  const auto available = static_cast<std::size_t>(DeviceRegistry::Get().size());
  if (problems.empty() && wanted > available / IpusOf(metadata)) {
    problems = "replication_factor is " + std::to_string(config.replication_factor);
    if (IpusOf(metadata) > 1) {
      problems += " and the model needs " + std::to_string(IpusOf(metadata)) + " IPUs";
    }
    problems += ", there are " + std::to_string(available) +
                " devices: take fewer replicas or set POPRT_NUM_IPUS";
  }
  if (!problems.empty()) throw Error(problems);
}

}  // namespace

Devices DevicesOfReplicas(const popef::Metadata& metadata, const ModelRunnerConfig& config) {
  CheckConfig(metadata, config);
  const std::size_t wanted = config.replication_factor - config.replica_id_to_device.size();
  Devices free;
  if (wanted > 0) {
    const std::size_t ipus = wanted * IpusOf(metadata);
    free = poprt::device::JoinIpus(DeviceRegistry::Get().AcquireSeveral(
                                       static_cast<int>(ipus), WaitTime(config.device_wait_config),
                                       PollInterval(config.device_wait_config)),
                                   IpusOf(metadata));
  }
  Devices devices;
  auto next_free = free.begin();
  for (unsigned replica = 0; replica < config.replication_factor; ++replica) {
    const auto pinned = config.replica_id_to_device.find(replica);
    devices.push_back(pinned == config.replica_id_to_device.end() ? std::move(*next_free++)
                                                                  : Pin(pinned->second));
  }
  return devices;
}

}  // namespace model_runtime
