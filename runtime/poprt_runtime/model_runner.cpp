#include "poprt/runtime/model_runner.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model_runtime/engine.hpp"
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

/// In the order of their names, so that a wrong request gets the same message every time.
template <typename Buffer, typename Views>
std::vector<Buffer> BuffersOf(const Views& views) {
  std::vector<Buffer> buffers;
  buffers.reserve(views.size());
  for (const auto& [name, view] : views) buffers.push_back({name, view.data, view.dataSizeBytes});
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer& a, const Buffer& b) { return a.name < b.name; });
  return buffers;
}

DataDesc Describe(const model_runtime::DataDesc& desc) {
  return {desc.name, desc.size_in_bytes, desc.shape, desc.data_type,
          desc.popef_contains_tensor_data};
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
  engine_->Execute(BuffersOf<InputBuffer>(inputs), BuffersOf<OutputBuffer>(outputs));
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs) {
  auto pending = std::make_shared<Pending>();
  pending->inputs = inputs;
  pending->outputs = outputs;
  OutputFutureMemoryView futures;
  for (const auto& [name, view] : outputs) {
    futures.emplace(name, pending->promises[name].get_future().share());
  }
  auto input_buffers = BuffersOf<InputBuffer>(pending->inputs);
  auto output_buffers = BuffersOf<OutputBuffer>(pending->outputs);
  engine_->Submit(std::move(input_buffers), std::move(output_buffers),
                  [pending](const std::exception_ptr& error) { pending->Finish(error); });
  return futures;
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
