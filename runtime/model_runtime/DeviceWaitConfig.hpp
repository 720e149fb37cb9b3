#pragma once

#include <chrono>

namespace model_runtime {

/// What to do when no device is free.
enum class DeviceWaitStrategy {
  NO_WAIT,            ///< throw at once
  WAIT_WITH_TIMEOUT,  ///< throw when the timeout is over
  WAIT_FOREVER
};

/// How long to wait for a device. One that this process releases wakes the waiting thread at once;
/// for those of other processes it looks again and again: at least every `sleepTime`, and at least
/// every 50 ms.
struct DeviceWaitConfig {
  constexpr DeviceWaitConfig() = default;
  constexpr DeviceWaitConfig(DeviceWaitStrategy wait_strategy,
                             std::chrono::seconds wait_timeout = std::chrono::seconds(0),
                             std::chrono::seconds sleep_time = std::chrono::seconds(15))
      : strategy(wait_strategy), timeout(wait_timeout), sleepTime(sleep_time) {}
  constexpr explicit DeviceWaitConfig(std::chrono::seconds wait_timeout,
                                      std::chrono::seconds sleep_time = std::chrono::seconds(15))
      : strategy(DeviceWaitStrategy::WAIT_WITH_TIMEOUT),
        timeout(wait_timeout),
        sleepTime(sleep_time) {}

  DeviceWaitStrategy strategy = DeviceWaitStrategy::NO_WAIT;
  std::chrono::seconds timeout{0};
  std::chrono::seconds sleepTime{15};
};

/// The time this configuration waits: 0, the timeout, of which more than a year is a year, or
/// longer than any program runs.
std::chrono::nanoseconds WaitTime(const DeviceWaitConfig& config);

/// How often to look whether other processes have released a device.
std::chrono::nanoseconds PollInterval(const DeviceWaitConfig& config);

}  // namespace model_runtime
