#pragma once

#include <chrono>
#include <memory>

#include "runtime/device/device.hpp"

namespace poprt::device {

/// The devices of this process and who has them. How many there are is configuration:
/// POPRT_NUM_IPUS, 4 when it is not set. Thread-safe.
///
/// A device is had exclusively: it is free again when the last copy of the pointer is gone.
class DeviceRegistry {
 public:
  /// The registry of this process.
  static DeviceRegistry& Get();

  int size() const;

  /// The free device with the lowest number, waiting up to `timeout` for one. Throws DeviceError
  /// when there is none in that time.
  std::shared_ptr<Device> Acquire(std::chrono::nanoseconds timeout = {});

  /// The device of that number. Throws DeviceError when it does not exist or is not free in time.
  std::shared_ptr<Device> AcquireById(int id, std::chrono::nanoseconds timeout = {});

  DeviceRegistry(const DeviceRegistry&) = delete;
  DeviceRegistry& operator=(const DeviceRegistry&) = delete;

 private:
  explicit DeviceRegistry(int count);
  ~DeviceRegistry() = delete;  // lives until the process ends, since devices may outlive statics

  struct State;
  /// Device `id`, already marked as taken; its end marks it free.
  static std::shared_ptr<Device> Wrap(const std::shared_ptr<State>& state, int id);

  std::shared_ptr<State> state_;
};

}  // namespace poprt::device
