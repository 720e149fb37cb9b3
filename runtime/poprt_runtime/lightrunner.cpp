#include "poprt/runtime/lightrunner.hpp"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <utility>

#include "model_runtime/serving/engine.hpp"
#include "runtime/poprt_runtime/descriptions.hpp"
#include "runtime/poprt_runtime/engine_factory.hpp"
#include "runtime/poprt_runtime/engine_requests.hpp"

namespace poprt::runtime {

struct LightRunner::State {
  State(std::shared_ptr<popef::Model> loaded, LightRunnerConfig options)
      : model(std::move(loaded)), config(std::move(options)) {
    if (model == nullptr) throw std::runtime_error("a LightRunner needs a model");
    Load();
    execute_inputs = DescribeAll(engine->inputs());
    execute_outputs = DescribeAll(engine->outputs());
    model_inputs = DescribeAll(engine->model_inputs());
    model_outputs = DescribeAll(engine->model_outputs());
  }

  /// For requests. Those that come after a thread that wants `changing` for itself wait behind it,
  /// so that it gets its turn however many they are.
  std::shared_lock<std::shared_mutex> Share() {
    { const std::lock_guard turn(gate); }
    return std::shared_lock(changing);
  }

  /// For what changes the engine.
  std::unique_lock<std::shared_mutex> Own() {
    const std::lock_guard turn(gate);
    return std::unique_lock(changing);
  }

  /// The caller has `changing` for itself.
  void Load() {
    engine.reset();  // first, since there may be one device only
    auto fresh = MakeEngine(model, config);
    for (const auto& [name, memory] : weights) {
      fresh->SetVariable(name, {memory.data, memory.dataSizeBytes});
    }
    if (!weights.empty()) fresh->LoadVariables();
    engine = std::move(fresh);
  }

  /// The caller shares `changing`.
  model_runtime::Engine& Running() {
    if (engine == nullptr) throw std::runtime_error("the runner is stopped: call reload() first");
    return *engine;
  }

  const std::shared_ptr<popef::Model> model;
  const LightRunnerConfig config;
  std::vector<InputDesc> execute_inputs;
  std::vector<OutputDesc> execute_outputs;
  std::vector<InputDesc> model_inputs;
  std::vector<OutputDesc> model_outputs;

  std::mutex gate;             ///< of those who wait for `changing`
  std::shared_mutex changing;  ///< requests share it, stop() and reload() do not
  std::unique_ptr<model_runtime::Engine> engine;
  std::mutex setting;  ///< guards weights
  std::map<std::string, ConstTensorMemoryView> weights;
};

namespace {

std::shared_ptr<popef::Model> ModelOf(const std::shared_ptr<Executable>& executable) {
  if (executable == nullptr) throw std::runtime_error("a LightRunner needs an executable");
  return executable->getPopefModel();
}

}  // namespace

LightRunner::LightRunner(std::shared_ptr<popef::Model> model, const LightRunnerConfig& config)
    : state_(std::make_unique<State>(std::move(model), config)) {}

LightRunner::LightRunner(const std::shared_ptr<Executable>& executable,
                         const LightRunnerConfig& config)
    : LightRunner(ModelOf(executable), config) {}

LightRunner::LightRunner(const std::string& popefPath, const LightRunnerConfig& config)
    : LightRunner(Executable(popefPath).getPopefModel(), config) {}

// Requests that run end before what they use goes.
// NOLINTNEXTLINE(bugprone-exception-escape): taking locks that nobody misuses throws nothing.
LightRunner::~LightRunner() { stop(); }

void LightRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
  const auto lock = state_->Share();
  Execute(state_->Running(), inputs, outputs, nullptr, 0);
}

void LightRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          OutputShapes& shapes) {
  const auto lock = state_->Share();
  Execute(state_->Running(), inputs, outputs, &shapes, 0);
}

OutputFutureMemoryView LightRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs) {
  const auto lock = state_->Share();
  return Submit(state_->Running(), inputs, outputs, nullptr, 0);
}

OutputFutureMemoryView LightRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 OutputShapes& shapes) {
  const auto lock = state_->Share();
  return Submit(state_->Running(), inputs, outputs, &shapes, 0);
}

std::vector<OutputDesc> LightRunner::outputsFor(const InputMemoryView& inputs) const {
  const auto lock = state_->Share();
  return OutputsFor(state_->Running(), inputs);
}

std::optional<DataDesc> LightRunner::describe(const std::string& name) const {
  const auto lock = state_->Share();
  return DescribeTensor(state_->Running(), name);
}

void LightRunner::setInputAnchor(const std::string& name, const ConstTensorMemoryView& memory) {
  const auto lock = state_->Share();
  const std::lock_guard setting(state_->setting);
  state_->Running().SetVariable(name, {memory.data, memory.dataSizeBytes});
  state_->weights[name] = memory;
}

void LightRunner::updateWeights() {
  const auto lock = state_->Share();
  state_->Running().LoadVariables();
}

void LightRunner::stop() {
  const auto lock = state_->Own();
  state_->engine.reset();
}

void LightRunner::reload() {
  const auto lock = state_->Own();
  state_->Load();
}

std::vector<InputDesc> LightRunner::getExecuteInputs() const { return state_->execute_inputs; }
std::vector<OutputDesc> LightRunner::getExecuteOutputs() const { return state_->execute_outputs; }
std::vector<InputDesc> LightRunner::getModelInputs() const { return state_->model_inputs; }
std::vector<OutputDesc> LightRunner::getModelOutputs() const { return state_->model_outputs; }

}  // namespace poprt::runtime
