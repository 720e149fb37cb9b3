#pragma once

#include "model_runtime/DeviceWaitConfig.hpp"
#include "model_runtime/Tensor.hpp"

namespace model_runtime {

struct ModelRunnerConfig {
  DeviceWaitConfig device_wait_config;
  /// Execute calls of several threads take turns, whatever this says: it exists for programs that
  /// set it.
  bool thread_safe = false;
  /// A request must give exactly the tensors of the graph it runs.
  bool validate_io_params = true;
  /// Refuse containers another version of the compiler has written.
  bool check_package_hash = true;
  /// Added to every request; getExecuteInputs() leaves them out. The memory must outlive the
  /// runner.
  InputMemoryView frozen_inputs;
};

}  // namespace model_runtime
