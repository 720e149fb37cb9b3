#pragma once

#include <stdexcept>
#include <string>

/// What requests and runners throw, and what the futures of failed requests carry. All derive from
/// std::runtime_error.
namespace model_runtime {

/// A request, a model or a configuration that cannot be served; says which tensor or field, what
/// was found and what is allowed. Faults of devices are of the classes derived from it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What heals a device.
enum class RecoveryAction { IPU_RESET, PARTITION_RESET, FULL_RESET };

/// "IPU_RESET", "PARTITION_RESET", "FULL_RESET".
std::string toString(RecoveryAction action);

/// The program faulted: the device needs a reset, other devices are not concerned.
class application_runtime_error : public Error {
 public:
  using Error::Error;
};

/// The device faulted, and what recoveryAction() says heals it.
class recoverable_runtime_error : public Error {
 public:
  recoverable_runtime_error(RecoveryAction action, const std::string& message)
      : Error(message), action_(action) {}

  RecoveryAction recoveryAction() const { return action_; }

 private:
  RecoveryAction action_;
};

/// The device faulted for a reason that nobody knows: someone has to look at it.
class unknown_runtime_error : public Error {
 public:
  using Error::Error;
};

}  // namespace model_runtime
