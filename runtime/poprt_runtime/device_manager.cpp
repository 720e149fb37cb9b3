#include "poprt/runtime/device_manager.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "runtime/device/device_registry.hpp"
#include "runtime/device/joined_ipus.hpp"

namespace poprt::runtime {

Device::Device(std::shared_ptr<device::Device> attached) : device_(std::move(attached)) {}

std::string Device::ipuVersion() const { return DeviceManager().ipuHardwareVersion(); }

int Device::id() const { return device_->id(); }

std::string DeviceManager::ipuHardwareVersion() const {
  const char* configured = std::getenv("POPRT_IPU_VERSION");
  return configured == nullptr || *configured == '\0' ? "ipu21" : configured;
}

int DeviceManager::getNumDevices() const { return device::DeviceRegistry::Get().size(); }

std::shared_ptr<Device> DeviceManager::getDevice(int numIpus) const {
  if (numIpus < 1 || numIpus > getNumDevices()) {
    throw std::runtime_error("getDevice was asked for " + std::to_string(numIpus) +
                             " IPUs, this machine has " + std::to_string(getNumDevices()) +
                             " (POPRT_NUM_IPUS says how many)");
  }
  auto ipus = device::DeviceRegistry::Get().AcquireSeveral(numIpus);
  return std::make_shared<Device>(
      device::JoinIpus(std::move(ipus), static_cast<std::size_t>(numIpus)).front());
}

std::shared_ptr<Device> DeviceManager::getSpecificDevice(int deviceId) const {
  return std::make_shared<Device>(device::DeviceRegistry::Get().AcquireById(deviceId));
}

}  // namespace poprt::runtime
