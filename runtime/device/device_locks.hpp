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
/// Should somebody delete a file that is locked, the name of a socket still tells others of the
/// lock, unless they are in another network namespace or call the folder by another path.
///
/// Two objects are to each other as two processes. A child made by fork() has none of the locks of
/// its parent, also if other threads of the parent are locking at that moment.
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

 private:
  class AllLocks;
  /// Descriptors, or -1.
  struct Held {
    int file = -1;  ///< is locked
    int name = -1;  ///< socket
  };

  static void Release(Held& held);
  void Forget();

  std::string folder_;
  bool is_default_;
  std::mutex mutex_;
  std::vector<Held> held_;
};

}  // namespace poprt::device
