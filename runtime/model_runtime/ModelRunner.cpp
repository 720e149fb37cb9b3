#include "model_runtime/ModelRunner.hpp"

#include <set>

#include "model_runtime/model/model_file.hpp"
#include "model_runtime/serving/engine.hpp"
#include "model_runtime/serving/replica_devices.hpp"
#include "model_runtime/serving/request_by_name.hpp"

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

OutputMemory AllocateOutputs(const Engine& engine, const InputMemoryView& inputs) {
  OutputMemory outputs;
  for (const DataDesc& desc : engine.OutputsFor(InputBuffers(inputs))) {
    outputs.emplace(desc.name, TensorMemory(desc.size_in_bytes));
  }
  return outputs;
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
  const OpenOutputs open = FindOpenOutputs(*engine_, outputs);
  engine_->Execute(InputBuffers(inputs), OutputBuffers(outputs, &shapes), replica_id);
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
  return SubmitByName(*engine_, inputs, AllocateOutputs(*engine_, inputs), nullptr, replica_id);
}

OutputFutureMemory ModelRunner::executeAsync(const InputMemoryView& inputs, OutputShapes& shapes,
                                             unsigned replica_id) {
  return SubmitByName(*engine_, inputs, AllocateOutputs(*engine_, inputs), &shapes, replica_id);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 unsigned replica_id) {
  return SubmitByName(*engine_, inputs, outputs, nullptr, replica_id);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 OutputShapes& shapes, unsigned replica_id) {
  return SubmitByName(*engine_, inputs, outputs, &shapes, replica_id);
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
