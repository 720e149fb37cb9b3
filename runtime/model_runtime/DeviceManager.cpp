#include "model_runtime/DeviceManager.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model_runtime/Errors.hpp"
#include "model_runtime/session/device_use.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/device/faulty_device.hpp"

namespace model_runtime {
namespace {

using poprt::device::DeviceRegistry;

constexpr std::array<std::int64_t, 3> kIpuVersions = {1, 2, 21};
constexpr std::int64_t kMostTiles = 1472;
constexpr std::int64_t kMostIpus = 1024;
constexpr std::int64_t kSmallTiles = 4;
constexpr int kNoNumber = -1;

void CheckVersion(std::int64_t version, bool any_allowed, std::string& problems) {
  if (any_allowed && version == 0) return;
  if (std::ranges::find(kIpuVersions, version) != kIpuVersions.end()) return;
  problems += (problems.empty() ? "" : "\n");
  problems += "there are no devices of IPU version " + std::to_string(version) +
              ", allowed are 1, 2 and 21";
}

void CheckRange(const std::string& what, std::int64_t value, std::int64_t most,
                std::string& problems) {
  if (value >= 1 && value <= most) return;
  problems += (problems.empty() ? "" : "\n");
  problems += what + " is " + std::to_string(value) + ", allowed are 1 to " + std::to_string(most);
}

const popef::Metadata& MetadataOf(const std::shared_ptr<popef::Model>& model) {
  if (model == nullptr) throw Error("there is no model");
  return model->metadata;
}

std::shared_ptr<Device> MakeDevice(std::vector<std::shared_ptr<poprt::device::Device>> ipus,
                                   std::int64_t version, std::int64_t tiles) {
  return std::make_shared<Device>(std::make_unique<DeviceUse>(std::move(ipus), version, tiles));
}

}  // namespace

Device::Device(std::unique_ptr<DeviceUse> use) : use_(std::move(use)) {}
Device::~Device() = default;

std::int64_t Device::id() const { return use_->id(); }
std::int64_t Device::numIpus() const { return use_->num_ipus(); }
std::int64_t Device::ipuVersion() const { return use_->ipu_version(); }
std::int64_t Device::tilesPerIpu() const { return use_->tiles_per_ipu(); }

std::int64_t DeviceManager::getNumDevices() const { return DeviceRegistry::Get().size(); }

std::shared_ptr<Device> DeviceManager::getDevice(const std::shared_ptr<popef::Model>& model,
                                                 const DeviceWaitConfig& wait_config) const {
  const popef::Metadata& metadata = MetadataOf(model);
  return getDevice(
      DeviceConstraints{.num_ipus = metadata.numIpus(), .ipu_version = metadata.ipuVersion()},
      wait_config);
}

std::shared_ptr<Device> DeviceManager::getDevice(const DeviceConstraints& constraints,
                                                 const DeviceWaitConfig& wait_config) const {
  std::string problems;
  if (constraints.num_ipus < 1 || constraints.num_ipus > getNumDevices()) {
    problems = std::to_string(constraints.num_ipus) + " IPUs are wanted, this machine has " +
               std::to_string(getNumDevices()) + " (POPRT_NUM_IPUS says how many)";
  }
  CheckVersion(constraints.ipu_version, true, problems);
  if (!problems.empty()) throw Error(problems);
  return MakeDevice(
      DeviceRegistry::Get().AcquireSeveral(static_cast<int>(constraints.num_ipus),
                                           WaitTime(wait_config), PollInterval(wait_config)),
      constraints.ipu_version, 0);
}

std::shared_ptr<Device> DeviceManager::getDevice(std::int64_t num_ipus,
                                                 const DeviceWaitConfig& wait_config) const {
  return getDevice(DeviceConstraints{.num_ipus = num_ipus}, wait_config);
}

std::shared_ptr<Device> DeviceManager::getSpecificDevice(
    std::int64_t id, const DeviceWaitConfig& wait_config) const {
  if (id < 0 || id >= getNumDevices()) {
    throw Error("there is no device " + std::to_string(id) + ", devices are numbered 0 to " +
                std::to_string(getNumDevices() - 1) + " (POPRT_NUM_IPUS says how many)");
  }
  return MakeDevice({DeviceRegistry::Get().AcquireById(static_cast<int>(id), WaitTime(wait_config),
                                                       PollInterval(wait_config))},
                    0, 0);
}

std::shared_ptr<Device> DeviceManager::createIpuModelDevice(std::int64_t num_ipus,
                                                            std::int64_t ipu_version,
                                                            std::int64_t tiles_per_ipu) const {
  std::string problems;
  CheckRange("num_ipus", num_ipus, kMostIpus, problems);
  CheckVersion(ipu_version, false, problems);
  CheckRange("tiles_per_ipu", tiles_per_ipu, kMostTiles, problems);
  if (!problems.empty()) throw Error(problems);
  std::vector<std::shared_ptr<poprt::device::Device>> ipus;
  for (std::int64_t i = 0; i < num_ipus; ++i) {
    ipus.push_back(poprt::device::MakeDevice(kNoNumber));
  }
  return MakeDevice(std::move(ipus), ipu_version, tiles_per_ipu);
}

std::shared_ptr<Device> DeviceManager::createIpuModelDevice(
    const std::shared_ptr<popef::Model>& model, std::int64_t tiles_per_ipu) const {
  const popef::Metadata& metadata = MetadataOf(model);
  // A container that does not say what it is for runs anywhere.
  const std::int64_t version = metadata.ipuVersion() == 0 ? 2 : metadata.ipuVersion();
  return createIpuModelDevice(metadata.numIpus(), version, tiles_per_ipu);
}

std::shared_ptr<Device> DeviceManager::createSmallIpuModelDevice(std::int64_t num_ipus,
                                                                 std::int64_t ipu_version) const {
  return createIpuModelDevice(num_ipus, ipu_version, kSmallTiles);
}

std::shared_ptr<Device> DeviceManager::createSmallIpuModelDevice(
    const std::shared_ptr<popef::Model>& model) const {
  return createIpuModelDevice(model, kSmallTiles);
}

}  // namespace model_runtime
