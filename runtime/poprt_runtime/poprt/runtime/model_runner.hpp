#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poprt/executable.hpp"
#include "poprt/runtime/runtime_commons.hpp"
#include "poprt/runtime/runtime_config.hpp"

namespace model_runtime {
class Engine;
}

namespace poprt::runtime {

/// What every runner does. Functions may be called from several threads; errors are exceptions
/// derived from std::runtime_error. Memory must stay valid until its request is done. An output
/// with DataDesc::openAxis needs memory for the largest shape, the described one; its result takes
/// the first bytes of it, densely packed.
class BaseRunner {
 public:
  virtual ~BaseRunner() = default;

  /// Runs and returns when the outputs are written.
  virtual void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) = 0;
  /// Queues the request. Requests run in order; the futures carry the exception of one that fails,
  /// otherwise views of the bytes the results take.
  virtual OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                              const OutputMemoryView& outputs) = 0;

  virtual std::vector<InputDesc> getExecuteInputs() const = 0;
  virtual std::vector<OutputDesc> getExecuteOutputs() const = 0;
};

/// Runs one model, or the graphs of a fused one: a request for a fused model gives the tensors of
/// one graph, "graph0/x" or "name/x"; `index` may be given or left out.
class ModelRunner : public BaseRunner {
 public:
  /// A container.
  explicit ModelRunner(const std::string& popefPath, const RuntimeConfig& config = {});
  explicit ModelRunner(std::shared_ptr<Executable> executable, const RuntimeConfig& config = {});
  ~ModelRunner() override;

  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) override;
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs) override;
  /// These also tell the shapes of the results; executeAsync does so before the futures are ready.
  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
               OutputShapes& shapes);
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs, OutputShapes& shapes);
  /// What to allocate for the outputs of a request with these inputs: all outputs of the graph it
  /// runs, at the request's multiple of the batch.
  std::vector<OutputDesc> outputsFor(const InputMemoryView& inputs) const;
  std::vector<InputDesc> getExecuteInputs() const override;
  std::vector<OutputDesc> getExecuteOutputs() const override;
  /// The input or output of that name, which may be any name requests can use ("graph0/x" for
  /// "resnet/x"); nothing if there is none.
  std::optional<DataDesc> describe(const std::string& name) const;
  /// With the tensors a load program would transfer; models keep their weights in the executable,
  /// so these are the inputs and outputs of execute.
  std::vector<InputDesc> getModelInputs() const;
  std::vector<OutputDesc> getModelOutputs() const;

 private:
  OutputFutureMemoryView Submit(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                                OutputShapes* shapes);

  std::unique_ptr<model_runtime::Engine> engine_;
};

/// Kept for programs that name it: ModelRunner serves fused models by itself.
class ModelFusionRunner : public ModelRunner {
 public:
  using ModelRunner::ModelRunner;
};

}  // namespace poprt::runtime
