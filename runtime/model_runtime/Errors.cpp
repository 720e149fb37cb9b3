#include "model_runtime/Errors.hpp"

namespace model_runtime {

std::string toString(RecoveryAction action) {
  switch (action) {
    case RecoveryAction::IPU_RESET:
      return "IPU_RESET";
    case RecoveryAction::PARTITION_RESET:
      return "PARTITION_RESET";
    case RecoveryAction::FULL_RESET:
      break;
  }
  return "FULL_RESET";
}

}  // namespace model_runtime
