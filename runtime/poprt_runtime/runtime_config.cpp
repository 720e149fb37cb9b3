#include "poprt/runtime/runtime_config.hpp"

#include <nlohmann/json.hpp>

namespace poprt::runtime {

std::string ToString(const RuntimeConfig& config) {
  const nlohmann::json json{
      {"batchingDim", config.batchingDim},
      {"checkPackageHash", config.checkPackageHash},
      {"deviceWaitConfig",
       {{"sleepTimeSec", config.deviceWaitConfig.sleepTimeSec.count()},
        {"timeoutSec", config.deviceWaitConfig.timeoutSec.count()}}},
      {"runnerType", static_cast<int>(config.runnerType)},
      {"threadSafe", config.threadSafe},
      {"timeoutNS", config.timeoutNS.count()},
      {"validateIOParams", config.validateIOParams},
  };
  return json.dump();
}

}  // namespace poprt::runtime
