#pragma once

#include <cstdint>
#include <memory>

#include "model_runtime/DeviceWaitConfig.hpp"
#include "popef/Model.hpp"

namespace model_runtime {

class DeviceUse;

/// What a program needs of a device.
struct DeviceConstraints {
  std::int64_t num_ipus = 1;
  /// The digits behind "ipu": 1, 2 or 21; 0 for any.
  std::int64_t ipu_version = 0;
};

/// One or more IPUs, had exclusively, also among the processes of the machine, until the last copy
/// of its pointer is gone. A DeviceManager makes it. One program at a time is loaded on it: loading
/// another first unloads the one that is there. Thread-safe.
class Device {
 public:
  explicit Device(std::unique_ptr<DeviceUse> use);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// The number of the first IPU on this machine; -1 for those of createIpuModelDevice.
  std::int64_t id() const;
  std::int64_t numIpus() const;
  /// 1, 2 or 21; 0 if it runs programs for any of them.
  std::int64_t ipuVersion() const;
  /// 0 if it runs programs for any number of tiles.
  std::int64_t tilesPerIpu() const;

  /// For the library.
  DeviceUse& use() const { return *use_; }

 private:
  std::unique_ptr<DeviceUse> use_;
};

/// Finds devices and does not own them. The IPUs of this machine have the numbers 0 to
/// getNumDevices() - 1; POPRT_NUM_IPUS says how many there are. They run programs for ipu1, ipu2
/// and ipu21. Thread-safe.
///
/// All functions throw Error when no device can ever be suitable, and poprt::device::DeviceError,
/// also a std::runtime_error, when none gets free in the time the wait configuration gives.
class DeviceManager {
 public:
  std::int64_t getNumDevices() const;

  /// A device that suits the metadata of the model.
  std::shared_ptr<Device> getDevice(const std::shared_ptr<popef::Model>& model,
                                    const DeviceWaitConfig& wait_config = {}) const;
  std::shared_ptr<Device> getDevice(const DeviceConstraints& constraints,
                                    const DeviceWaitConfig& wait_config = {}) const;
  /// A device of so many IPUs.
  std::shared_ptr<Device> getDevice(std::int64_t num_ipus,
                                    const DeviceWaitConfig& wait_config = {}) const;
  /// The IPU of that number.
  std::shared_ptr<Device> getSpecificDevice(std::int64_t id,
                                            const DeviceWaitConfig& wait_config = {}) const;

  /// A simulated device of its own, which is none of this machine's. It runs programs for its IPU
  /// version only; programs for other numbers of tiles run as well.
  std::shared_ptr<Device> createIpuModelDevice(std::int64_t num_ipus, std::int64_t ipu_version,
                                               std::int64_t tiles_per_ipu) const;
  std::shared_ptr<Device> createIpuModelDevice(const std::shared_ptr<popef::Model>& model,
                                               std::int64_t tiles_per_ipu) const;
  /// The same with 4 tiles.
  std::shared_ptr<Device> createSmallIpuModelDevice(std::int64_t num_ipus,
                                                    std::int64_t ipu_version) const;
  std::shared_ptr<Device> createSmallIpuModelDevice(
      const std::shared_ptr<popef::Model>& model) const;
};

}  // namespace model_runtime
