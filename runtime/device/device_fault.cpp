#include "runtime/device/device_fault.hpp"

namespace poprt::device {

std::string_view NameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kApplication:
      return "application_runtime_error";
    case FaultKind::kRecoverable:
      return "recoverable_runtime_error";
    case FaultKind::kUnknown:
      return "unknown_runtime_error";
    case FaultKind::kOther:
      break;
  }
  return "runtime_error";
}

std::string_view NameOf(FaultAction action) {
  switch (action) {
    case FaultAction::kIpuReset:
      return "IPU_RESET";
    case FaultAction::kPartitionReset:
      return "PARTITION_RESET";
    case FaultAction::kFullReset:
      break;
  }
  return "FULL_RESET";
}

}  // namespace poprt::device
