#include "model_runtime/serving/device_failure.hpp"

namespace model_runtime {

using poprt::device::FaultAction;
using poprt::device::FaultKind;

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

std::exception_ptr DeviceFailure::MakeException() const {
  try {
    Throw();
  } catch (const Error&) {
    return std::current_exception();
  }
}

}  // namespace model_runtime
