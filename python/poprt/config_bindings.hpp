#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "poprt/runtime/device_manager.hpp"
#include "poprt/runtime/runtime_config.hpp"
#include "python/poprt/arrays.hpp"

namespace poprt::runtime {

/// What Python calls ReplicaIdToDevice: changes of it are seen by the configuration it belongs to.
struct ReplicaDevices {
  std::map<std::uint32_t, std::shared_ptr<Device>> devices;
};

/// A RuntimeConfig that owns what its C++ form only refers to.
struct PythonConfig {
  RuntimeConfig config;
  std::shared_ptr<ReplicaDevices> replicas = std::make_shared<ReplicaDevices>();
  std::pair<Arrays, Arrays> flush_arrays;

  RuntimeConfig Resolved() const {
    RuntimeConfig result = config;
    result.replicaIdToDevice = replicas->devices;
    return result;
  }
};

/// A LightRunnerConfig; devices as in PythonConfig.
struct PythonLightConfig {
  LightRunnerConfig config;
  std::shared_ptr<ReplicaDevices> replicas = std::make_shared<ReplicaDevices>();

  LightRunnerConfig Resolved() const {
    LightRunnerConfig result = config;
    result.replicaIdToDevice = replicas->devices;
    return result;
  }
};

/// Device and DeviceManager.
void BindDevices(pybind11::module_& module);

/// The configurations of all runners and what they are made of.
void BindConfigs(pybind11::module_& module);

}  // namespace poprt::runtime
