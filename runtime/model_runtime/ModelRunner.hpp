#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "model_runtime/Errors.hpp"
#include "model_runtime/ModelRunnerConfig.hpp"
#include "model_runtime/RequestTracepoint.hpp"
// Users of sessions include this header alone.
#include "model_runtime/Session.hpp"
#include "model_runtime/Tensor.hpp"
#include "popef/Model.hpp"

namespace model_runtime {

class Engine;

/// Loads a model on one device for each replica and runs requests. Construction acquires the
/// devices; destruction finishes the requests that run, fails those that wait with an Error, and
/// releases them.
///
/// execute runs on the calling thread when the replica's queue is empty and its rows need no others
/// (see ModelRunnerConfig); executeAsync queues, and waits while the queue is full. A replica's
/// requests begin in the order in which they were made.
///
/// Inputs and outputs are read and written where they lie; they must stay valid until the result is
/// there. An output with DataDesc::open_axis needs memory for the largest shape, the described one;
/// its result takes the first bytes, densely packed. The memory an execute returns or a future
/// holds says how many bytes those are, and the forms with `shapes` tell the shapes of all results;
/// with executeAsync, `shapes` must live until the futures are ready. Everything may be called from
/// several threads; the requests of a replica take turns. Errors are exceptions derived from
/// std::runtime_error: model_runtime::Error and its classes for faults of devices (Errors.hpp),
/// popef::Error, poprt::device::DeviceError.
class ModelRunner {
 public:
  /// A model spread over several files, or in one.
  explicit ModelRunner(const std::vector<std::string>& popef_paths,
                       const ModelRunnerConfig& config = {});
  explicit ModelRunner(const std::string& popef_path, const ModelRunnerConfig& config = {});
  explicit ModelRunner(const std::shared_ptr<popef::Model>& model,
                       const ModelRunnerConfig& config = {});
  ~ModelRunner();
  ModelRunner(ModelRunner&&) noexcept;
  ModelRunner& operator=(ModelRunner&&) noexcept;

  /// Runs and returns newly allocated outputs. `replica_id` is less than replication_factor.
  OutputMemory execute(const InputMemoryView& inputs, unsigned replica_id = 0);
  OutputMemory execute(const InputMemoryView& inputs, OutputShapes& shapes,
                       unsigned replica_id = 0);
  /// Runs and writes to user memory.
  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
               unsigned replica_id = 0);
  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs, OutputShapes& shapes,
               unsigned replica_id = 0);
  /// Queues the request. The futures carry the exception of a request that fails. Without outputs
  /// there is no future to tell the end: the request has run when this returns, and throws.
  OutputFutureMemory executeAsync(const InputMemoryView& inputs, unsigned replica_id = 0);
  OutputFutureMemory executeAsync(const InputMemoryView& inputs, OutputShapes& shapes,
                                  unsigned replica_id = 0);
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs, unsigned replica_id = 0);
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs, OutputShapes& shapes,
                                      unsigned replica_id = 0);

  /// What execute needs: the inputs of all graphs without the frozen ones, those that the container
  /// has the data of, and variables.
  std::vector<InputDesc> getExecuteInputs() const;
  std::vector<OutputDesc> getExecuteOutputs() const;
  /// What the model has, with all of these.
  std::vector<InputDesc> getModelInputs() const;
  std::vector<OutputDesc> getModelOutputs() const;

  /// The last request_tracepoints_buffer_size requests that were not refused, oldest first; none
  /// unless flush_on_waiting_outputs.
  std::vector<RequestTracepoint> requestTracepoints() const;

 private:
  ModelRunnerConfig config_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace model_runtime
