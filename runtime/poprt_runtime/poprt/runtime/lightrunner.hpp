#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poprt/executable.hpp"
#include "poprt/runtime/base_runner.hpp"
#include "poprt/runtime/lightrunner_config.hpp"

namespace poprt::runtime {

/// Runs one model, or the graphs of a fused one, on one device, and can load other weights between
/// requests: those that getModelInputs() describes with popefContainsTensorData, which are the
/// weights of models that were compiled with constant_weights = False.
class LightRunner : public BaseRunner {
 public:
  explicit LightRunner(std::shared_ptr<popef::Model> model, const LightRunnerConfig& config = {});
  explicit LightRunner(const std::shared_ptr<Executable>& executable,
                       const LightRunnerConfig& config = {});
  /// A container.
  explicit LightRunner(const std::string& popefPath, const LightRunnerConfig& config = {});
  ~LightRunner() override;

  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) override;
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs) override;
  /// As those of ModelRunner.
  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
               OutputShapes& shapes);
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs, OutputShapes& shapes);
  std::vector<OutputDesc> outputsFor(const InputMemoryView& inputs) const;
  std::optional<DataDesc> describe(const std::string& name) const;

  /// Gives a weight other data, which updateWeights() loads. The memory must stay valid until it is
  /// replaced or the runner goes: reload() reads it again. Throws std::runtime_error when the model
  /// has no such weight or it has another size.
  void setInputAnchor(const std::string& name, const ConstTensorMemoryView& memory);
  /// Loads all weights: requests that begin after it returns use the new values. Requests that run
  /// end before.
  void updateWeights();

  /// Unloads the model and gives the device back, unless the configuration keeps it. Requests that
  /// run end before; queued ones, and those made until reload(), get an error.
  void stop();
  /// Gets a device as the constructor does and loads the model, with the weights that were set. A
  /// runner that is not stopped is stopped first.
  void reload();

  /// Also of a runner that is stopped.
  std::vector<InputDesc> getExecuteInputs() const override;
  std::vector<OutputDesc> getExecuteOutputs() const override;
  /// With the weights.
  std::vector<InputDesc> getModelInputs() const;
  std::vector<OutputDesc> getModelOutputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poprt::runtime
