#pragma once

#include <memory>

#include "runtime/device/device.hpp"

namespace poprt::device {

/// The model device: executes programs on the host CPU with the threads of the process's pool.
/// Loading binds kernels and reserves an arena for the activations and memory for the variables;
/// weights are read where the image has them.
std::unique_ptr<Device> MakeModelDevice(int id);

}  // namespace poprt::device
