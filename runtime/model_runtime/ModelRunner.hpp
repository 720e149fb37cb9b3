#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "model_runtime/ModelRunnerConfig.hpp"
#include "model_runtime/Tensor.hpp"
#include "popef/Model.hpp"

namespace model_runtime {

class Engine;

/// Loads a model on a device and runs requests. Construction acquires the device, destruction
/// finishes the running request and releases it.
///
/// Inputs and outputs are read and written where they lie; they must stay valid until the result is
/// there. An output with DataDesc::open_axis needs memory for the largest shape, the described one;
/// its result takes the first bytes, densely packed. The memory an execute returns or a future
/// holds says how many bytes those are, and the forms with `shapes` tell the shapes of all results;
/// with executeAsync, `shapes` must live until the futures are ready. Everything may be called from
/// several threads; requests take turns. Errors are exceptions derived from std::runtime_error:
/// model_runtime::Error, popef::Error, poprt::device::DeviceError.
class ModelRunner {
 public:
  /// A model spread over several files, or in one.
  explicit ModelRunner(const std::vector<std::string>& popef_paths,
                       const ModelRunnerConfig& config = {});
  explicit ModelRunner(const std::string& popef_path, const ModelRunnerConfig& config = {});
  explicit ModelRunner(std::shared_ptr<popef::Model> model, const ModelRunnerConfig& config = {});
  ~ModelRunner();
  ModelRunner(ModelRunner&&) noexcept;
  ModelRunner& operator=(ModelRunner&&) noexcept;

  /// Runs and returns newly allocated outputs. `replica_id` must be 0: there is one replica.
  OutputMemory execute(const InputMemoryView& inputs, unsigned replica_id = 0);
  OutputMemory execute(const InputMemoryView& inputs, OutputShapes& shapes,
                       unsigned replica_id = 0);
  /// Runs and writes to user memory.
  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
               unsigned replica_id = 0);
  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs, OutputShapes& shapes,
               unsigned replica_id = 0);
  /// Queues the request. The futures carry the exception of a request that fails.
  OutputFutureMemory executeAsync(const InputMemoryView& inputs, unsigned replica_id = 0);
  OutputFutureMemory executeAsync(const InputMemoryView& inputs, OutputShapes& shapes,
                                  unsigned replica_id = 0);
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs, unsigned replica_id = 0);
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs, OutputShapes& shapes,
                                      unsigned replica_id = 0);

  /// What execute needs: the inputs of all graphs without the frozen ones.
  std::vector<InputDesc> getExecuteInputs() const;
  std::vector<OutputDesc> getExecuteOutputs() const;
  /// What the model has.
  std::vector<InputDesc> getModelInputs() const;
  std::vector<OutputDesc> getModelOutputs() const;

 private:
  ModelRunnerConfig config_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace model_runtime
