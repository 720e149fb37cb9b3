#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "runtime/device/device.hpp"

namespace poprt::device {

/// The devices of this machine and who has them. How many there are is configuration:
/// POPRT_NUM_IPUS, 8 when it is not set. Thread-safe.
///
/// A device is had exclusively, also between processes: it is free again when the last copy of the
/// pointer is gone or the process has ended. POPRT_DEVICE_LOCK_DIR names the folder of the files
/// by which processes know of each other; it is made if need be. A child made by fork() has none of
/// the devices of its parent; it must not use the pointers it has inherited.
class DeviceRegistry {
 public:
  /// How often a thread that waits looks for devices other processes have released. A release in
  /// this process wakes it at once.
  static constexpr std::chrono::milliseconds kPollInterval{50};

  /// The registry of this process. Throws DeviceError when POPRT_NUM_IPUS is no number of devices.
  static DeviceRegistry& Get();

  int size() const;

  /// The free device with the lowest number, waiting up to `timeout` for one. Throws DeviceError
  /// when there is none in that time, and when the lock files cannot be used.
  std::shared_ptr<Device> Acquire(std::chrono::nanoseconds timeout = {},
                                  std::chrono::nanoseconds poll_interval = kPollInterval);

  /// As many devices at once; takes none while there are fewer.
  std::vector<std::shared_ptr<Device>> AcquireSeveral(
      int count, std::chrono::nanoseconds timeout = {},
      std::chrono::nanoseconds poll_interval = kPollInterval);

  /// The device of that number. Throws DeviceError when it does not exist or is not free in time.
  std::shared_ptr<Device> AcquireById(int id, std::chrono::nanoseconds timeout = {},
                                      std::chrono::nanoseconds poll_interval = kPollInterval);

  DeviceRegistry(const DeviceRegistry&) = delete;
  DeviceRegistry& operator=(const DeviceRegistry&) = delete;

 private:
  explicit DeviceRegistry(int count);
  ~DeviceRegistry() = delete;  // lives until the process ends, since devices may outlive statics

  struct State;
  class Lease;
  std::vector<std::shared_ptr<Device>> Take(const std::vector<int>& candidates, int count,
                                            std::chrono::nanoseconds timeout,
                                            std::chrono::nanoseconds poll_interval);

  std::shared_ptr<State> state_;
};

}  // namespace poprt::device
