#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "model_runtime/DeviceWaitConfig.hpp"
#include "model_runtime/Tensor.hpp"

namespace model_runtime {

class Device;

/// Configuration of a ModelRunner. Making a runner with values that cannot be served throws one
/// Error that names all of them.
///
/// With `batching_dim` a request may have any number of rows along that dimension, alike in all its
/// tensors, instead of multiples of the model's batch B. Of n = k*B + m rows, k batches run at once
/// and m rows wait: rows of later requests for the same graph complete their batch, which then runs
/// at once; if they do not come in time, what is missing is filled with zeros and it runs. Every
/// caller gets exactly its rows. Requests end when all their rows have run, so one that waits for
/// rows may end after later ones.
struct ModelRunnerConfig {
  /// How many copies of the model run, each on a device of its own with its own queue. They share
  /// the memory of the weights.
  unsigned replication_factor = 1;
  /// How long to wait for all devices together.
  DeviceWaitConfig device_wait_config;
  /// Everything of a runner may be called from several threads, whatever this says: it exists for
  /// programs that set it.
  bool thread_safe = false;
  /// How long the rows of an incomplete batch wait for others, from the first of them on; 0: for
  /// ever. Changes nothing without batching_dim: a request carries all its inputs, so nothing waits
  /// for some.
  std::chrono::nanoseconds timeout_ns{10'000'000};
  /// A request must give exactly the tensors of the graph it runs. If not set, outputs may be left
  /// out and tensors no graph knows are ignored.
  bool validate_io_params = true;
  /// The dimension along which requests are merged and split, from 0 to the rank of the tensors
  /// less 1. The default switches that off. Every tensor of the model must have the dimension, and
  /// those of a graph the same extent along it, except for frozen inputs.
  std::uint32_t batching_dim = 0xFFFFFFFF;
  /// Refuse containers another version of the compiler has written.
  bool check_package_hash = true;
  /// Read the whole executable when it is loaded and compare its hash: finds altered weights, but
  /// takes time in proportion to them.
  bool verify_weights = false;
  /// Added to every request that does not give them; getExecuteInputs() leaves them out. The data
  /// of one batch, used for each; without batching_dim also of N batches, for requests of N. A
  /// variable of the model takes its value from here instead of the tensor data. The memory must
  /// outlive the runner.
  InputMemoryView frozen_inputs;
  /// Reset the device after a fault that this heals, which are application_runtime_error and
  /// recoverable_runtime_error with IPU_RESET: the request that ran gets the error, the next one
  /// runs after the reset. Otherwise, and after any other fault, every request that is queued or
  /// made later gets the error.
  bool auto_reset = false;
  /// Capacity of the queue of a replica, in steps: with this times the batches of a step queued,
  /// executeAsync waits until the device has taken some. At least 1.
  std::uint32_t ring_buffer_size_multiplier = 2;
  /// Flush incomplete batches only while a request waits for its outputs, and record requests for
  /// requestTracepoints(). Rows wait only as long as their request does, so only the record makes a
  /// difference here.
  bool flush_on_waiting_outputs = false;
  /// If is_batch_size_timeout_enabled, the rows of an incomplete batch wait for the longer of this
  /// and timeout_ns. The maximum: for ever.
  std::chrono::nanoseconds batch_size_timeout_ns = std::chrono::nanoseconds::max();
  /// The time to wait for inputs that come in parallel. Changes nothing: those of a request come
  /// together.
  std::chrono::nanoseconds data_parallel_timeout_ns = std::chrono::nanoseconds::max();
  bool is_batch_size_timeout_enabled = false;
  /// How many requests requestTracepoints() remembers; 0: all.
  std::uint32_t request_tracepoints_buffer_size = 1000;
  /// One batch to fill incomplete batches from when they have waited long enough: of each input
  /// here, the last rows take the place of zeros, and of each output here, the last rows receive
  /// what becomes of them, which only one replica can do. The memory must outlive the runner.
  std::pair<InputMemoryView, OutputMemoryView> flush_by_name;
  /// Devices of replicas, which must differ; the others take any that are free.
  std::map<unsigned, std::shared_ptr<Device>> replica_id_to_device;
};

}  // namespace model_runtime
