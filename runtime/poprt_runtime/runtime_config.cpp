#include "poprt/runtime/runtime_config.hpp"

#include <nlohmann/json.hpp>

namespace poprt::runtime {

std::string ToString(const RuntimeConfig& config) {
  nlohmann::json json{
      {"autoReset", config.autoReset},
      {"batchSizeTimeoutNS", config.batchSizeTimeoutNS.count()},
      {"batchingDim", config.batchingDim},
      {"checkPackageHash", config.checkPackageHash},
      {"dataParallelTimeoutNS", config.dataParallelTimeoutNS.count()},
      {"deviceWaitConfig",
       {{"sleepTimeSec", config.deviceWaitConfig.sleepTimeSec.count()},
        {"timeoutSec", config.deviceWaitConfig.timeoutSec.count()}}},
      {"flushOnWaitingOutputs", config.flushOnWaitingOutputs},
      {"isBatchSizeTimeoutEnabled", config.isBatchSizeTimeoutEnabled},
      {"requestTracepointsBufferSize", config.requestTracepointsBufferSize},
      {"ringBufferSizeMultiplier", config.ringBufferSizeMultiplier},
      {"runnerType", static_cast<int>(config.runnerType)},
      {"threadSafe", config.threadSafe},
      {"timeoutNS", config.timeoutNS.count()},
      {"validateIOParams", config.validateIOParams},
  };
  if (config.verifyWeights) json["verifyWeights"] = true;
  for (const auto& [replica, device] : config.replicaIdToDevice) {
    if (device != nullptr) json["replicaIdToDevice"][std::to_string(replica)] = device->id();
  }
  return json.dump();
}

}  // namespace poprt::runtime
