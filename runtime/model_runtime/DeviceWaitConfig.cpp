#include "model_runtime/DeviceWaitConfig.hpp"

#include <algorithm>

namespace model_runtime {

std::chrono::nanoseconds WaitTime(const DeviceWaitConfig& config) {
  switch (config.strategy) {
    case DeviceWaitStrategy::NO_WAIT:
      break;
    case DeviceWaitStrategy::WAIT_WITH_TIMEOUT:
      // Compared in seconds, which may be more than nanoseconds can count.
      return std::clamp<std::chrono::seconds>(config.timeout, std::chrono::seconds(0),
                                              std::chrono::hours(24 * 365));
    case DeviceWaitStrategy::WAIT_FOREVER:
      return std::chrono::nanoseconds::max();
  }
  return std::chrono::nanoseconds(0);
}

std::chrono::nanoseconds PollInterval(const DeviceWaitConfig& config) {
  constexpr std::chrono::milliseconds kShortest{1};
  constexpr std::chrono::milliseconds kLongest{50};
  return std::clamp<std::chrono::milliseconds>(
      std::clamp(config.sleepTime, std::chrono::seconds(0), std::chrono::seconds(1)), kShortest,
      kLongest);
}

}  // namespace model_runtime
