#include "model_runtime/DeviceWaitConfig.hpp"

#include <algorithm>

namespace model_runtime {

std::chrono::nanoseconds WaitTime(const DeviceWaitConfig& config) {
  switch (config.strategy) {
    case DeviceWaitStrategy::NO_WAIT:
      break;
    case DeviceWaitStrategy::WAIT_WITH_TIMEOUT:
      return config.timeout;
    case DeviceWaitStrategy::WAIT_FOREVER:
      return std::chrono::nanoseconds::max();
  }
  return std::chrono::nanoseconds(0);
}

std::chrono::nanoseconds PollInterval(const DeviceWaitConfig& config) {
  constexpr std::chrono::milliseconds kShortest{1};
  constexpr std::chrono::milliseconds kLongest{50};
  // Compared in milliseconds: seconds may be more than nanoseconds can count.
  return std::clamp<std::chrono::milliseconds>(
      std::min<std::chrono::seconds>(config.sleepTime, std::chrono::seconds(1)), kShortest,
      kLongest);
}

}  // namespace model_runtime
