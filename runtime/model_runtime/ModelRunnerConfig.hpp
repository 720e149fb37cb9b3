#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "model_runtime/DeviceWaitConfig.hpp"
#include "model_runtime/Tensor.hpp"

namespace model_runtime {

/// Configuration of a ModelRunner.
///
/// Making a runner with a value that is not supported yet throws one Error that names all of them.
/// Fields that say how long to wait for data, and what to do then, may have any value and change
/// nothing: a request carries all its inputs, so nothing ever waits for some.
struct ModelRunnerConfig {
  /// How many copies of the model run on devices of their own. There is one for now; others are
  /// refused.
  unsigned replication_factor = 1;
  DeviceWaitConfig device_wait_config;
  /// Execute calls of several threads take turns, whatever this says: it exists for programs that
  /// set it.
  bool thread_safe = false;
  /// The time a step waits for missing input. Changes nothing: no step waits.
  std::chrono::nanoseconds timeout_ns{10'000'000};
  /// A request must give exactly the tensors of the graph it runs.
  bool validate_io_params = true;
  /// The dimension along which requests are merged and split. The default switches that off; other
  /// values are refused for now.
  std::uint32_t batching_dim = 0xFFFFFFFF;
  /// Refuse containers another version of the compiler has written.
  bool check_package_hash = true;
  /// Read the whole executable when it is loaded and compare its hash: finds altered weights, but
  /// takes time in proportion to them.
  bool verify_weights = false;
  /// Added to every request; getExecuteInputs() leaves them out. The memory must outlive the
  /// runner.
  InputMemoryView frozen_inputs;
  /// Load the model again after a failed request; true is refused for now.
  bool auto_reset = false;
  /// Capacity of the queues of the original, in batches. Changes nothing: requests are queued, and
  /// their queue grows with them.
  std::uint32_t ring_buffer_size_multiplier = 2;
  /// Flush only while a request waits for outputs. Changes nothing: nothing is flushed.
  bool flush_on_waiting_outputs = false;
  /// The time to wait for the rest of a batch, and for inputs in parallel, and whether these two
  /// count. Change nothing: no step waits.
  std::chrono::nanoseconds batch_size_timeout_ns = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds data_parallel_timeout_ns = std::chrono::nanoseconds::max();
  bool is_batch_size_timeout_enabled = false;
  /// Size of the record of requests that flushing looks at. Changes nothing: nothing is flushed.
  std::uint32_t request_tracepoints_buffer_size = 1000;
  /// Data to flush when a step has waited too long. Changes nothing: no step waits.
  std::pair<InputMemoryView, OutputMemoryView> flush_by_name;
};

}  // namespace model_runtime
