#pragma once

#include <string>
#include <string_view>

#include "runtime/device/device.hpp"

namespace poprt::device {

/// How bad a fault is; the names are those of the exceptions users get.
enum class FaultKind {
  kApplication,  ///< "application_runtime_error": the program faulted, a reset heals the device
  kRecoverable,  ///< "recoverable_runtime_error": FaultAction heals the device
  kUnknown,      ///< "unknown_runtime_error": nobody knows what does
  kOther         ///< "runtime_error"
};

/// What heals a recoverable fault: "IPU_RESET", "PARTITION_RESET", "FULL_RESET".
enum class FaultAction { kIpuReset, kPartitionReset, kFullReset };

std::string_view NameOf(FaultKind kind);
std::string_view NameOf(FaultAction action);

/// A run has failed, and so will each later one until Device::Reset.
class DeviceFault : public DeviceError {
 public:
  /// `action` matters to recoverable faults only.
  DeviceFault(FaultKind kind, FaultAction action, const std::string& message)
      : DeviceError(message), kind_(kind), action_(action) {}

  FaultKind kind() const { return kind_; }
  FaultAction action() const { return action_; }

 private:
  FaultKind kind_;
  FaultAction action_;
};

}  // namespace poprt::device
