#include "model_runtime/serving/device_failure.hpp"

namespace model_runtime {

using poprt::device::FaultAction;
using poprt::device::FaultKind;

namespace {

/// Stands for messages there is no memory for: std::string allocates nothing for it.
constexpr const char* kNoMessage = "out of memory";

}  // namespace

DeviceFailure DeviceFailure::Other(const std::string& message) {
  return {.kind = FaultKind::kOther, .message = message};
}

DeviceFailure DeviceFailure::Of(const poprt::device::DeviceFault& fault) {
  DeviceFailure failure{.kind = fault.kind(), .message = fault.what()};
  switch (fault.action()) {
    case FaultAction::kIpuReset:
      failure.action = RecoveryAction::IPU_RESET;
      break;
    case FaultAction::kPartitionReset:
      failure.action = RecoveryAction::PARTITION_RESET;
      break;
    case FaultAction::kFullReset:
      failure.action = RecoveryAction::FULL_RESET;
      break;
  }
  if (failure.kind == FaultKind::kRecoverable) {
    failure.message += "; recovery action " + toString(failure.action);
  }
  return failure;
}

DeviceFailure DeviceFailure::Current() noexcept {
  try {
    try {
      throw;
    } catch (const poprt::device::DeviceFault& fault) {
      return Of(fault);
    } catch (const std::exception& error) {
      return Other(error.what());
    }
  } catch (...) {
    DeviceFailure failure;
    failure.message = kNoMessage;
    return failure;
  }
}

void DeviceFailure::Keep(const DeviceFailure& failure) noexcept {
  kind = failure.kind;
  action = failure.action;
  try {
    message = failure.message;
  } catch (...) {
    message = kNoMessage;
  }
}

bool DeviceFailure::HealedByReset() const {
  return kind == FaultKind::kApplication ||
         (kind == FaultKind::kRecoverable && action == RecoveryAction::IPU_RESET);
}

void DeviceFailure::Throw() const {
  switch (kind) {
    case FaultKind::kApplication:
      throw application_runtime_error(message);
    case FaultKind::kRecoverable:
      throw recoverable_runtime_error(action, message);
    case FaultKind::kUnknown:
      throw unknown_runtime_error(message);
    case FaultKind::kOther:
      break;
  }
  throw Error(message);
}

std::exception_ptr DeviceFailure::MakeException() const noexcept {
  try {
    Throw();
  } catch (...) {  // also when there is no memory for it
    return std::current_exception();
  }
}

}  // namespace model_runtime
