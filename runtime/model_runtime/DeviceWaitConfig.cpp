#include "model_runtime/DeviceWaitConfig.hpp"

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

}  // namespace model_runtime
