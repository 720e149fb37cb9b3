#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "poprt/runtime/device_manager.hpp"
#include "poprt/runtime/device_wait_config.hpp"

namespace poprt::runtime {

/// Configuration of a LightRunner.
struct LightRunnerConfig {
  /// Refuse containers another version of the compiler has written.
  bool checkPackageHash = true;
  /// The device to use, as that of replica 0, which is the only one. Empty: any free one.
  std::map<std::uint32_t, std::shared_ptr<Device>> replicaIdToDevice;
  /// The same under the name of older programs.
  std::map<std::uint32_t, std::shared_ptr<Device>> replica_to_device;
  /// How long to wait if no device is given; our own.
  DeviceWaitConfig deviceWaitConfig;
};

}  // namespace poprt::runtime
