#include "poprt/runtime/model_runner.hpp"

#include <stdexcept>
#include <utility>

#include "model_runtime/engine.hpp"
#include "model_runtime/sort_by_name.hpp"
#include "runtime/device/device_registry.hpp"

namespace poprt::runtime {
namespace {

using model_runtime::Engine;
using model_runtime::InputBuffer;
using model_runtime::OutputBuffer;

void CheckConfig(const RuntimeConfig& config) {
  std::string problems;
  const auto add = [&](const std::string& problem) {
    problems += (problems.empty() ? "" : "\n") + problem;
  };
  if (config.runnerType == RunnerType::PackRunner) {
    add("runnerType PackRunner is not there yet: leave it at ModelRunner");
  }
  if (const std::uint32_t off = RuntimeConfig().batchingDim; config.batchingDim != off) {
    add("batchingDim " + std::to_string(config.batchingDim) +
        " (merging and splitting batches) is not there yet: leave it at " + std::to_string(off));
  }
  if (config.autoReset) add("autoReset true is not there yet: leave it at false");
  for (const auto& [replica, device] : config.replicaIdToDevice) {
    if (replica != 0 || device == nullptr) {
      add("replicaIdToDevice names replica " + std::to_string(replica) +
          (device == nullptr ? " without a device" : ", but there is one replica, 0"));
    }
  }
  if (!problems.empty()) throw std::runtime_error(problems);
}

std::unique_ptr<Engine> MakeEngine(const Executable& executable, const RuntimeConfig& config) {
  CheckConfig(config);
  const auto pinned = config.replicaIdToDevice.find(0);
  auto device = pinned != config.replicaIdToDevice.end()
                    ? pinned->second->device()
                    : device::DeviceRegistry::Get().Acquire(config.deviceWaitConfig.timeoutSec);
  return std::make_unique<Engine>(
      executable.getPopefModel(), std::move(device),
      model_runtime::EngineConfig{.validate_io_params = config.validateIOParams,
                                  .check_package_hash = config.checkPackageHash,
                                  .verify_weights = config.verifyWeights});
}

std::vector<InputBuffer> InputBuffers(const InputMemoryView& inputs) {
  std::vector<InputBuffer> buffers;
  buffers.reserve(inputs.size());
  for (const auto& [name, view] : inputs) buffers.push_back({name, view.data, view.dataSizeBytes});
  model_runtime::SortByName(buffers);
  return buffers;
}

/// `shapes` may be null.
std::vector<OutputBuffer> OutputBuffers(const OutputMemoryView& outputs, OutputShapes* shapes) {
  std::vector<OutputBuffer> buffers;
  buffers.reserve(outputs.size());
  for (const auto& [name, view] : outputs) {
    buffers.push_back(
        {name, view.data, view.dataSizeBytes, shapes == nullptr ? nullptr : &(*shapes)[name]});
  }
  model_runtime::SortByName(buffers);
  return buffers;
}

DataDesc Describe(const model_runtime::DataDesc& desc) {
  return {desc.name,
          desc.size_in_bytes,
          desc.shape,
          desc.data_type,
          desc.popef_contains_tensor_data,
          desc.open_axis};
}

std::vector<DataDesc> DescribeAll(const std::vector<model_runtime::DataDesc>& descs) {
  std::vector<DataDesc> result;
  for (const model_runtime::DataDesc& desc : descs) result.push_back(Describe(desc));
  return result;
}

/// A queued request: the names the engine's buffers point to, and the promises that end it.
struct Pending {
  InputMemoryView inputs;
  OutputMemoryView outputs;
  std::unordered_map<std::string, std::promise<TensorMemoryView>> promises;
  OutputShapes shapes;  ///< for callers that do not ask

  /// Reduces the views of results with an open axis to what they take.
  void Shrink(const Engine& engine, const OutputShapes& found) {
    for (auto& [name, view] : outputs) {
      const model_runtime::DataDesc* desc = engine.Describe(name);
      if (desc == nullptr || !desc->open_axis) continue;
      view.dataSizeBytes = popef::TensorInfo(desc->data_type, found.at(name)).sizeInBytes();
    }
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

}  // namespace

ModelRunner::ModelRunner(const std::string& popefPath, const RuntimeConfig& config)
    : engine_(MakeEngine(Executable(popefPath), config)) {}

ModelRunner::ModelRunner(std::shared_ptr<Executable> executable, const RuntimeConfig& config) {
  if (executable == nullptr) throw std::runtime_error("a ModelRunner needs an executable");
  engine_ = MakeEngine(*executable, config);
}

ModelRunner::~ModelRunner() = default;

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
  engine_->Execute(InputBuffers(inputs), OutputBuffers(outputs, nullptr));
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          OutputShapes& shapes) {
  engine_->Execute(InputBuffers(inputs), OutputBuffers(outputs, &shapes));
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs) {
  return Submit(inputs, outputs, nullptr);
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 OutputShapes& shapes) {
  return Submit(inputs, outputs, &shapes);
}

OutputFutureMemoryView ModelRunner::Submit(const InputMemoryView& inputs,
                                           const OutputMemoryView& outputs, OutputShapes* shapes) {
  auto pending = std::make_shared<Pending>();
  pending->inputs = inputs;
  pending->outputs = outputs;
  if (shapes == nullptr) shapes = &pending->shapes;
  OutputFutureMemoryView futures;
  for (const auto& [name, view] : outputs) {
    futures.emplace(name, pending->promises[name].get_future().share());
  }
  auto input_buffers = InputBuffers(pending->inputs);
  auto output_buffers = OutputBuffers(pending->outputs, shapes);
  engine_->Submit(std::move(input_buffers), std::move(output_buffers),
                  [pending, shapes, engine = engine_.get()](const std::exception_ptr& error) {
                    if (!error) pending->Shrink(*engine, *shapes);
                    pending->Finish(error);
                  });
  return futures;
}

std::vector<OutputDesc> ModelRunner::outputsFor(const InputMemoryView& inputs) const {
  return DescribeAll(engine_->OutputsFor(InputBuffers(inputs)));
}

std::optional<DataDesc> ModelRunner::describe(const std::string& name) const {
  const model_runtime::DataDesc* desc = engine_->Describe(name);
  if (desc == nullptr) return std::nullopt;
  return Describe(*desc);
}

std::vector<InputDesc> ModelRunner::getExecuteInputs() const {
  return DescribeAll(engine_->inputs());
}
std::vector<OutputDesc> ModelRunner::getExecuteOutputs() const {
  return DescribeAll(engine_->outputs());
}
std::vector<InputDesc> ModelRunner::getModelInputs() const { return getExecuteInputs(); }
std::vector<OutputDesc> ModelRunner::getModelOutputs() const { return getExecuteOutputs(); }

}  // namespace poprt::runtime
