#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"

namespace poprt::device {

/// Who of the processes of this machine has which device: a locked file for each. The kernel
/// releases the locks of a process that ends, however it does. The files stay. Thread-safe.
///
/// Two objects are to each other as two processes. A child made by fork() has none of the locks of
/// its parent.
class DeviceLocks {
 public:
  /// `folder` as in the environment variable POPRT_DEVICE_LOCK_DIR; nothing: "poprt-devices" in the
  /// folder for temporary files, made for every user.
  DeviceLocks(int count, const std::optional<std::string>& folder);
  /// Releases all.
  ~DeviceLocks();
  DeviceLocks(const DeviceLocks&) = delete;
  DeviceLocks& operator=(const DeviceLocks&) = delete;

  /// False if another process has the device. This object must not have it. Throws DeviceError
  /// that names the folder and the variable when the files cannot be used.
  bool TryLock(int id);
  void Unlock(int id);

  /// For the child of fork(): closes what it has inherited.
  void Forget();

 private:
  std::string folder_;
  bool is_default_;
  std::mutex mutex_;
  std::vector<int> files_;  ///< descriptors of locked files, or -1
};

}  // namespace poprt::device
