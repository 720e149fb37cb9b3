#pragma once

#include <memory>
#include <vector>

#include "model_runtime/ModelRunnerConfig.hpp"
#include "popef/Types.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

/// A device for each replica, of as many IPUs as the model needs: those of replica_id_to_device,
/// for others what is free, all at once,
/// waiting as device_wait_config says. Throws Error that lists everything the configuration asks
/// for and cannot have, DeviceError when not enough devices are free in time.
std::vector<std::shared_ptr<poprt::device::Device>> DevicesOfReplicas(
    const popef::Metadata& metadata, const ModelRunnerConfig& config);

}  // namespace model_runtime
