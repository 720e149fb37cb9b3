#pragma once

#include <memory>
#include <string>

namespace poprt::device {
class Device;
}

namespace poprt::runtime {

/// A device that is attached to this process; released when the object goes. Move-only.
class Device {
 public:
  explicit Device(std::shared_ptr<device::Device> attached);
  Device(Device&&) = default;
  Device& operator=(Device&&) = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// "ipu21": what the device stands for.
  std::string ipuVersion() const;
  /// Number of the device; of its first IPU if it has several.
  int id() const;
  const std::shared_ptr<device::Device>& device() const { return device_; }

 private:
  std::shared_ptr<device::Device> device_;
};

/// The IPUs of this machine. They are model devices; POPRT_NUM_IPUS says how many there are and
/// POPRT_IPU_VERSION ("ipu21") what they report to be. Every function throws std::runtime_error on
/// failure. Thread-safe.
class DeviceManager {
 public:
  std::string ipuHardwareVersion() const;
  int getNumDevices() const;
  /// A free device with that many IPUs, all of which it keeps from others. A model needs as many as
  /// it was compiled for (num_ipus).
  std::shared_ptr<Device> getDevice(int numIpus = 1) const;
  std::shared_ptr<Device> getSpecificDevice(int deviceId) const;
};

}  // namespace poprt::runtime
