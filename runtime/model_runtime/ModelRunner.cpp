#include "model_runtime/ModelRunner.hpp"

#include <utility>

#include "model_runtime/engine.hpp"
#include "model_runtime/model_file.hpp"
#include "model_runtime/sort_by_name.hpp"
#include "runtime/device/device_registry.hpp"

namespace model_runtime {
namespace {

void CheckConfig(const ModelRunnerConfig& config) {
  const ModelRunnerConfig defaults;
  std::string problems;
  const auto add = [&](const std::string& setting, const std::string& allowed) {
    problems +=
        (problems.empty() ? "" : "\n") + setting + " is not there yet: leave it at " + allowed;
  };
  if (config.replication_factor != defaults.replication_factor) {
    add("replication_factor " + std::to_string(config.replication_factor), "1");
  }
  if (config.batching_dim != defaults.batching_dim) {
    add("batching_dim " + std::to_string(config.batching_dim) + " (merging and splitting batches)",
        std::to_string(defaults.batching_dim));
  }
  if (config.auto_reset) add("auto_reset true", "false");
  if (!problems.empty()) throw Error(problems);
}

std::unique_ptr<Engine> MakeEngine(std::shared_ptr<popef::Model> model,
                                   const ModelRunnerConfig& config) {
  CheckConfig(config);
  auto device = poprt::device::DeviceRegistry::Get().Acquire(WaitTime(config.device_wait_config));
  return std::make_unique<Engine>(std::move(model), std::move(device),
                                  EngineConfig{.validate_io_params = config.validate_io_params,
                                               .check_package_hash = config.check_package_hash,
                                               .verify_weights = config.verify_weights});
}

void CheckReplica(unsigned replica_id) {
  if (replica_id == 0) return;
  throw Error("replica_id is " + std::to_string(replica_id) +
              ", allowed is 0: there is one replica");
}

/// The request's inputs and the frozen ones. Names point into the two maps.
std::vector<InputBuffer> InputBuffers(const InputMemoryView& inputs,
                                      const InputMemoryView& frozen) {
  std::vector<InputBuffer> buffers;
  buffers.reserve(inputs.size() + frozen.size());
  for (const auto& [name, view] : inputs)
    buffers.push_back({name, view.data, view.data_size_bytes});
  for (const auto& [name, view] : frozen) {
    if (inputs.count(name) == 0) buffers.push_back({name, view.data, view.data_size_bytes});
  }
  SortByName(buffers);
  return buffers;
}

/// Buffers for the outputs; their shapes go to `shapes` if it is not null.
std::vector<OutputBuffer> OutputBuffers(const OutputMemoryView& outputs, OutputShapes* shapes) {
  std::vector<OutputBuffer> buffers;
  buffers.reserve(outputs.size());
  for (const auto& [name, view] : outputs) {
    buffers.push_back(
        {name, view.data, view.data_size_bytes, shapes == nullptr ? nullptr : &(*shapes)[name]});
  }
  SortByName(buffers);
  return buffers;
}

/// Reduces the memory of results with an open axis to what they take of it.
template <typename Memory>
void Shrink(const Engine& engine, const OutputShapes& shapes,
            std::unordered_map<std::string, Memory>& outputs) {
  for (auto& [name, memory] : outputs) {
    const DataDesc* desc = engine.Describe(name);
    if (desc == nullptr || !desc->open_axis) continue;
    memory.data_size_bytes = popef::TensorInfo(desc->data_type, shapes.at(name)).sizeInBytes();
  }
}

OutputMemory AllocateOutputs(const Engine& engine, const std::vector<InputBuffer>& inputs) {
  OutputMemory outputs;
  for (const DataDesc& desc : engine.OutputsFor(inputs)) {
    outputs.emplace(desc.name, TensorMemory(desc.size_in_bytes));
  }
  return outputs;
}

OutputMemoryView ViewsOf(OutputMemory& outputs) {
  OutputMemoryView views;
  for (auto& [name, memory] : outputs) views.emplace(name, memory.getView());
  return views;
}

/// A request on its way: what must live until it is done, and the promises that end it.
template <typename Memory>
struct Pending {
  InputMemoryView inputs;  ///< own the names the engine's buffers point to
  OutputMemoryView views;
  std::unordered_map<std::string, Memory> outputs;
  std::unordered_map<std::string, std::promise<Memory>> promises;
  OutputShapes shapes;  ///< for callers that do not ask

  std::unordered_map<std::string, std::shared_future<Memory>> Futures() {
    std::unordered_map<std::string, std::shared_future<Memory>> futures;
    for (const auto& [name, memory] : outputs) {
      futures.emplace(name, promises[name].get_future().share());
    }
    return futures;
  }

  void Finish(const std::exception_ptr& error) {
    for (auto& [name, promise] : promises) {
      if (error) {
        promise.set_exception(error);
      } else {
        promise.set_value(outputs[name]);
      }
    }
  }
};

/// `shapes` may be null.
template <typename Memory>
auto SubmitPending(Engine& engine, std::shared_ptr<Pending<Memory>> pending,
                   const InputMemoryView& frozen, OutputShapes* shapes) {
  if (shapes == nullptr) shapes = &pending->shapes;
  auto futures = pending->Futures();
  auto inputs = InputBuffers(pending->inputs, frozen);
  auto outputs = OutputBuffers(pending->views, shapes);
  engine.Submit(std::move(inputs), std::move(outputs),
                [pending = std::move(pending), &engine, shapes](const std::exception_ptr& error) {
                  if (!error) Shrink(engine, *shapes, pending->outputs);
                  pending->Finish(error);
                });
  return futures;
}

OutputMemory RunAllocated(Engine& engine, const std::vector<InputBuffer>& inputs,
                          OutputShapes& shapes) {
  OutputMemory outputs = AllocateOutputs(engine, inputs);
  const OutputMemoryView views = ViewsOf(outputs);
  engine.Execute(inputs, OutputBuffers(views, &shapes));
  Shrink(engine, shapes, outputs);
  return outputs;
}

OutputFutureMemory SubmitAllocated(Engine& engine, const InputMemoryView& inputs,
                                   const InputMemoryView& frozen, OutputShapes* shapes) {
  auto pending = std::make_shared<Pending<TensorMemory>>();
  pending->inputs = inputs;
  pending->outputs = AllocateOutputs(engine, InputBuffers(pending->inputs, frozen));
  pending->views = ViewsOf(pending->outputs);
  return SubmitPending(engine, std::move(pending), frozen, shapes);
}

OutputFutureMemoryView SubmitViews(Engine& engine, const InputMemoryView& inputs,
                                   const OutputMemoryView& outputs, const InputMemoryView& frozen,
                                   OutputShapes* shapes) {
  auto pending = std::make_shared<Pending<TensorMemoryView>>();
  pending->inputs = inputs;
  pending->views = outputs;
  pending->outputs = outputs;
  return SubmitPending(engine, std::move(pending), frozen, shapes);
}

}  // namespace

ModelRunner::ModelRunner(const std::vector<std::string>& popef_paths,
                         const ModelRunnerConfig& config)
    : ModelRunner(ReadModel(popef_paths), config) {}

ModelRunner::ModelRunner(const std::string& popef_path, const ModelRunnerConfig& config)
    : ModelRunner(std::vector<std::string>{popef_path}, config) {}

ModelRunner::ModelRunner(std::shared_ptr<popef::Model> model, const ModelRunnerConfig& config)
    : config_(config), engine_(MakeEngine(std::move(model), config)) {}

ModelRunner::~ModelRunner() = default;
ModelRunner::ModelRunner(ModelRunner&&) noexcept = default;
ModelRunner& ModelRunner::operator=(ModelRunner&&) noexcept = default;

OutputMemory ModelRunner::execute(const InputMemoryView& inputs, unsigned replica_id) {
  OutputShapes shapes;
  return execute(inputs, shapes, replica_id);
}

OutputMemory ModelRunner::execute(const InputMemoryView& inputs, OutputShapes& shapes,
                                  unsigned replica_id) {
  CheckReplica(replica_id);
  return RunAllocated(*engine_, InputBuffers(inputs, config_.frozen_inputs), shapes);
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          unsigned replica_id) {
  CheckReplica(replica_id);
  engine_->Execute(InputBuffers(inputs, config_.frozen_inputs), OutputBuffers(outputs, nullptr));
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          OutputShapes& shapes, unsigned replica_id) {
  CheckReplica(replica_id);
  engine_->Execute(InputBuffers(inputs, config_.frozen_inputs), OutputBuffers(outputs, &shapes));
}

OutputFutureMemory ModelRunner::executeAsync(const InputMemoryView& inputs, unsigned replica_id) {
  CheckReplica(replica_id);
  return SubmitAllocated(*engine_, inputs, config_.frozen_inputs, nullptr);
}

OutputFutureMemory ModelRunner::executeAsync(const InputMemoryView& inputs, OutputShapes& shapes,
                                             unsigned replica_id) {
  CheckReplica(replica_id);
  return SubmitAllocated(*engine_, inputs, config_.frozen_inputs, &shapes);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 unsigned replica_id) {
  CheckReplica(replica_id);
  return SubmitViews(*engine_, inputs, outputs, config_.frozen_inputs, nullptr);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 OutputShapes& shapes, unsigned replica_id) {
  CheckReplica(replica_id);
  return SubmitViews(*engine_, inputs, outputs, config_.frozen_inputs, &shapes);
}

std::vector<InputDesc> ModelRunner::getExecuteInputs() const {
  std::vector<InputDesc> result = engine_->inputs();
  std::erase_if(
      result, [&](const InputDesc& input) { return config_.frozen_inputs.count(input.name) > 0; });
  return result;
}

std::vector<OutputDesc> ModelRunner::getExecuteOutputs() const { return engine_->outputs(); }
std::vector<InputDesc> ModelRunner::getModelInputs() const { return engine_->inputs(); }
std::vector<OutputDesc> ModelRunner::getModelOutputs() const { return engine_->outputs(); }

}  // namespace model_runtime
