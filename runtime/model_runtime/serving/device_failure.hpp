#pragma once

#include <exception>
#include <string>

#include "model_runtime/Errors.hpp"
#include "runtime/device/device_fault.hpp"

namespace model_runtime {

/// Why a device does not run. A value from which every request gets an exception of its own:
/// threads that share one exception would race for its end.
struct DeviceFailure {
  poprt::device::FaultKind kind = poprt::device::FaultKind::kOther;
  RecoveryAction action = RecoveryAction::IPU_RESET;
  std::string message;

  /// Of anything but a fault.
  static DeviceFailure Other(const std::string& message);
  static DeviceFailure Of(const poprt::device::DeviceFault& fault);
  /// Of the exception that is being handled.
  static DeviceFailure Current() noexcept;
  /// Becomes a copy; without its message if there is no memory for that.
  void Keep(const DeviceFailure& failure) noexcept;

  /// Whether auto_reset deals with it.
  bool HealedByReset() const;
  /// Throws the class of Errors.hpp that it is.
  [[noreturn]] void Throw() const;
  /// What Throw throws.
  std::exception_ptr MakeException() const noexcept;
};

}  // namespace model_runtime
