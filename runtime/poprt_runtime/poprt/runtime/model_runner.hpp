#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poprt/executable.hpp"
#include "poprt/runtime/base_runner.hpp"
#include "poprt/runtime/pack_runner.hpp"  // programs of PopRT find PackRunner here
#include "poprt/runtime/runtime_commons.hpp"
#include "poprt/runtime/runtime_config.hpp"

namespace model_runtime {
class Engine;
}

namespace poprt::runtime {

/// Runs one model, or the graphs of a fused one, on one device or several replicas, which requests
/// go to in turn; those of one replica run in order. execute runs on the calling thread and
/// allocates nothing unless it tells shapes or has to wait for others. A request for a fused model
/// gives the tensors of one graph, "graph0/x" or "name/x"; `index` may be given or left out.
class ModelRunner : public BaseRunner {
 public:
  /// A container.
  explicit ModelRunner(const std::string& popefPath, const RuntimeConfig& config = {});
  explicit ModelRunner(const std::shared_ptr<Executable>& executable,
                       const RuntimeConfig& config = {});
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
  /// With the tensors that load and save programs transfer: weights of models that were compiled
  /// with constant_weights = False.
  std::vector<InputDesc> getModelInputs() const;
  std::vector<OutputDesc> getModelOutputs() const;

 private:
  unsigned NextReplica();

  std::unique_ptr<model_runtime::Engine> engine_;
  std::atomic<unsigned> next_replica_{0};
};

/// Kept for programs that name it: ModelRunner serves fused models by itself.
class ModelFusionRunner : public ModelRunner {
 public:
  using ModelRunner::ModelRunner;
};

}  // namespace poprt::runtime
