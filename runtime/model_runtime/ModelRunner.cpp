#include "model_runtime/ModelRunner.hpp"

#include <set>
#include <utility>

#include "model_runtime/model/model_file.hpp"
#include "model_runtime/serving/engine.hpp"
#include "model_runtime/serving/replica_devices.hpp"

namespace model_runtime {
namespace {

EngineConfig EngineConfigOf(const ModelRunnerConfig& config) {
  return {.validate_io_params = config.validate_io_params,
          .check_package_hash = config.check_package_hash,
          .verify_weights = config.verify_weights,
          .batching_dim = config.batching_dim,
          .timeout_ns = config.timeout_ns,
          .is_batch_size_timeout_enabled = config.is_batch_size_timeout_enabled,
          .batch_size_timeout_ns = config.batch_size_timeout_ns,
          .auto_reset = config.auto_reset,
          .ring_buffer_size_multiplier = config.ring_buffer_size_multiplier,
          .flush_on_waiting_outputs = config.flush_on_waiting_outputs,
          .request_tracepoints_buffer_size = config.request_tracepoints_buffer_size,
          .frozen_inputs = config.frozen_inputs,
          .flush_by_name = config.flush_by_name};
}

std::unique_ptr<Engine> MakeEngine(const std::shared_ptr<popef::Model>& model,
                                   const ModelRunnerConfig& config) {
  if (model == nullptr) throw Error("there is no model");
  return std::make_unique<Engine>(model, DevicesOfReplicas(model->metadata, config),
                                  EngineConfigOf(config));
}

/// Buffers of the calling thread, see InputScratch. Names point into the maps.
const std::vector<InputBuffer>& InputBuffers(const InputMemoryView& inputs) {
  std::vector<InputBuffer>& buffers = InputScratch();
  for (const auto& [name, view] : inputs) {
    buffers.push_back({name, view.data, view.data_size_bytes});
  }
  return buffers;
}

/// Buffers for the outputs; their shapes go to `shapes` if it is not null.
const std::vector<OutputBuffer>& OutputBuffers(const OutputMemoryView& outputs,
                                               OutputShapes* shapes) {
  std::vector<OutputBuffer>& buffers = OutputScratch();
  for (const auto& [name, view] : outputs) {
    buffers.push_back(
        {name, view.data, view.data_size_bytes, shapes == nullptr ? nullptr : &(*shapes)[name]});
  }
  return buffers;
}

/// The types of results with an open axis. To be asked for before the request runs: when it is
/// done the engine may be gone.
using OpenOutputs = std::vector<std::pair<std::string, popef::DataType>>;

template <typename Memory>
OpenOutputs FindOpenOutputs(const Engine& engine,
                            const std::unordered_map<std::string, Memory>& outputs) {
  OpenOutputs open;
  for (const auto& [name, memory] : outputs) {
    const DataDesc* desc = engine.Describe(name);
    if (desc != nullptr && desc->open_axis) open.emplace_back(name, desc->data_type);
  }
  return open;
}

/// Reduces the memory of results with an open axis to what they take of it.
template <typename Memory>
void Shrink(const OpenOutputs& open, const OutputShapes& shapes,
            std::unordered_map<std::string, Memory>& outputs) {
  for (const auto& [name, type] : open) {
    outputs.at(name).data_size_bytes = popef::TensorInfo(type, shapes.at(name)).sizeInBytes();
  }
}

OutputMemory AllocateOutputs(const Engine& engine, const InputMemoryView& inputs) {
  OutputMemory outputs;
  for (const DataDesc& desc : engine.OutputsFor(InputBuffers(inputs))) {
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
  OpenOutputs open;
  OutputShapes shapes;  ///< for callers that do not ask

  std::unordered_map<std::string, std::shared_future<Memory>> Futures() {
    std::unordered_map<std::string, std::shared_future<Memory>> futures;
    for (const auto& [name, memory] : outputs) {
      futures.emplace(name, promises[name].get_future().share());
    }
    return futures;
  }

  void Finish(const OutputShapes& found, std::exception_ptr error) {
    try {
      if (error == nullptr) Shrink(open, found, outputs);
    } catch (...) {
      error = std::current_exception();
    }
    KeepPromises(std::move(error));
  }

 private:
  /// Whoever gets the error last ends it, not the thread of the engine.
  void KeepPromises(std::exception_ptr error) {
    std::size_t left = promises.size();
    for (auto& [name, promise] : promises) {
      if (error == nullptr) {
        promise.set_value(outputs[name]);
      } else if (--left > 0) {
        promise.set_exception(error);
      } else {
        promise.set_exception(std::move(error));
        return;
      }
    }
  }
};

/// `shapes` may be null. Without outputs there is no future to tell the end of the request: it has
/// run when this returns.
template <typename Memory>
auto SubmitPending(Engine& engine, std::shared_ptr<Pending<Memory>> pending, OutputShapes* shapes,
                   unsigned replica) {
  if (shapes == nullptr) shapes = &pending->shapes;
  pending->open = FindOpenOutputs(engine, pending->outputs);
  auto futures = pending->Futures();
  const auto& inputs = InputBuffers(pending->inputs);
  const auto& outputs = OutputBuffers(pending->views, shapes);
  if (outputs.empty()) {
    engine.Execute(inputs, outputs, replica);
    return futures;
  }
  engine.Submit(
      inputs, outputs,
      [pending = std::move(pending), shapes](std::exception_ptr error) {
        pending->Finish(*shapes, std::move(error));
      },
      replica);
  return futures;
}

OutputFutureMemory SubmitAllocated(Engine& engine, const InputMemoryView& inputs,
                                   OutputShapes* shapes, unsigned replica) {
  auto pending = std::make_shared<Pending<TensorMemory>>();
  pending->inputs = inputs;
  pending->outputs = AllocateOutputs(engine, inputs);
  pending->views = ViewsOf(pending->outputs);
  return SubmitPending(engine, std::move(pending), shapes, replica);
}

OutputFutureMemoryView SubmitViews(Engine& engine, const InputMemoryView& inputs,
                                   const OutputMemoryView& outputs, OutputShapes* shapes,
                                   unsigned replica) {
  auto pending = std::make_shared<Pending<TensorMemoryView>>();
  pending->inputs = inputs;
  pending->views = outputs;
  pending->outputs = outputs;
  return SubmitPending(engine, std::move(pending), shapes, replica);
}

}  // namespace

ModelRunner::ModelRunner(const std::vector<std::string>& popef_paths,
                         const ModelRunnerConfig& config)
    : ModelRunner(ReadModel(popef_paths), config) {}

ModelRunner::ModelRunner(const std::string& popef_path, const ModelRunnerConfig& config)
    : ModelRunner(std::vector<std::string>{popef_path}, config) {}

ModelRunner::ModelRunner(const std::shared_ptr<popef::Model>& model,
                         const ModelRunnerConfig& config)
    : config_(config), engine_(MakeEngine(model, config)) {}

ModelRunner::~ModelRunner() = default;
ModelRunner::ModelRunner(ModelRunner&&) noexcept = default;
ModelRunner& ModelRunner::operator=(ModelRunner&&) noexcept = default;

OutputMemory ModelRunner::execute(const InputMemoryView& inputs, unsigned replica_id) {
  OutputShapes shapes;
  return execute(inputs, shapes, replica_id);
}

OutputMemory ModelRunner::execute(const InputMemoryView& inputs, OutputShapes& shapes,
                                  unsigned replica_id) {
  OutputMemory outputs = AllocateOutputs(*engine_, inputs);
  const OutputMemoryView views = ViewsOf(outputs);
  const OpenOutputs open = FindOpenOutputs(*engine_, outputs);
  execute(inputs, views, shapes, replica_id);
  Shrink(open, shapes, outputs);
  return outputs;
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          unsigned replica_id) {
  engine_->Execute(InputBuffers(inputs), OutputBuffers(outputs, nullptr), replica_id);
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          OutputShapes& shapes, unsigned replica_id) {
  engine_->Execute(InputBuffers(inputs), OutputBuffers(outputs, &shapes), replica_id);
}

OutputFutureMemory ModelRunner::executeAsync(const InputMemoryView& inputs, unsigned replica_id) {
  return SubmitAllocated(*engine_, inputs, nullptr, replica_id);
}

OutputFutureMemory ModelRunner::executeAsync(const InputMemoryView& inputs, OutputShapes& shapes,
                                             unsigned replica_id) {
  return SubmitAllocated(*engine_, inputs, &shapes, replica_id);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 unsigned replica_id) {
  return SubmitViews(*engine_, inputs, outputs, nullptr, replica_id);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 OutputShapes& shapes, unsigned replica_id) {
  return SubmitViews(*engine_, inputs, outputs, &shapes, replica_id);
}

std::vector<InputDesc> ModelRunner::getExecuteInputs() const {
  std::set<std::string> frozen;
  for (const auto& [name, memory] : config_.frozen_inputs) {
    if (const DataDesc* input = engine_->Describe(name)) frozen.insert(input->name);
  }
  std::vector<InputDesc> result = engine_->inputs();
  std::erase_if(result, [&](const InputDesc& input) { return frozen.count(input.name) > 0; });
  return result;
}

std::vector<OutputDesc> ModelRunner::getExecuteOutputs() const { return engine_->outputs(); }
std::vector<InputDesc> ModelRunner::getModelInputs() const { return engine_->model_inputs(); }
std::vector<OutputDesc> ModelRunner::getModelOutputs() const { return engine_->model_outputs(); }

std::vector<RequestTracepoint> ModelRunner::requestTracepoints() const {
  return engine_->Tracepoints();
}

}  // namespace model_runtime
