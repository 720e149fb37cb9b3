#include "model_runtime/ModelRunner.hpp"

#include <algorithm>
#include <utility>

#include "model_runtime/engine.hpp"
#include "model_runtime/model_file.hpp"
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

/// So that a wrong request gets the same message every time.
template <typename Buffer>
void SortByName(std::vector<Buffer>& buffers) {
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer& a, const Buffer& b) { return a.name < b.name; });
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

std::vector<OutputBuffer> OutputBuffers(const OutputMemoryView& outputs) {
  std::vector<OutputBuffer> buffers;
  buffers.reserve(outputs.size());
  for (const auto& [name, view] : outputs) {
    buffers.push_back({name, view.data, view.data_size_bytes});
  }
  SortByName(buffers);
  return buffers;
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

template <typename Memory>
auto SubmitPending(Engine& engine, std::shared_ptr<Pending<Memory>> pending,
                   const InputMemoryView& frozen) {
  auto futures = pending->Futures();
  auto inputs = InputBuffers(pending->inputs, frozen);
  auto outputs = OutputBuffers(pending->views);
  engine.Submit(
      std::move(inputs), std::move(outputs),
      [pending = std::move(pending)](const std::exception_ptr& error) { pending->Finish(error); });
  return futures;
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
  CheckReplica(replica_id);
  const auto buffers = InputBuffers(inputs, config_.frozen_inputs);
  OutputMemory outputs = AllocateOutputs(*engine_, buffers);
  const OutputMemoryView views = ViewsOf(outputs);
  engine_->Execute(buffers, OutputBuffers(views));
  return outputs;
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          unsigned replica_id) {
  CheckReplica(replica_id);
  engine_->Execute(InputBuffers(inputs, config_.frozen_inputs), OutputBuffers(outputs));
}

OutputFutureMemory ModelRunner::executeAsync(const InputMemoryView& inputs, unsigned replica_id) {
  CheckReplica(replica_id);
  auto pending = std::make_shared<Pending<TensorMemory>>();
  pending->inputs = inputs;
  pending->outputs =
      AllocateOutputs(*engine_, InputBuffers(pending->inputs, config_.frozen_inputs));
  pending->views = ViewsOf(pending->outputs);
  return SubmitPending(*engine_, std::move(pending), config_.frozen_inputs);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 unsigned replica_id) {
  CheckReplica(replica_id);
  auto pending = std::make_shared<Pending<TensorMemoryView>>();
  pending->inputs = inputs;
  pending->views = outputs;
  pending->outputs = outputs;
  return SubmitPending(*engine_, std::move(pending), config_.frozen_inputs);
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
