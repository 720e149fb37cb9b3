#pragma once

#include <chrono>

namespace poprt::runtime {

/// How long to wait for a free device.
struct DeviceWaitConfig {
  DeviceWaitConfig() = default;
  DeviceWaitConfig(int timeout, int sleepTime)
      : timeoutSec(std::chrono::seconds(timeout)), sleepTimeSec(std::chrono::seconds(sleepTime)) {}

  std::chrono::seconds timeoutSec{1};
  /// The time between two attempts. A device that this process releases wakes the waiting thread at
  /// once, whatever the interval.
  std::chrono::seconds sleepTimeSec{6};
};

}  // namespace poprt::runtime
