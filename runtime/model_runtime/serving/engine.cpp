#include "model_runtime/serving/engine.hpp"

#include <string>
#include <utility>

#include "model_runtime/serving/replica.hpp"
#include "model_runtime/serving/served_model.hpp"
#include "model_runtime/serving/tracepoint_log.hpp"

namespace model_runtime {
namespace {

void CheckConfig(const EngineConfig& config, std::size_t num_replicas) {
  std::string problems;
  const auto add = [&](const std::string& problem) {
    problems += (problems.empty() ? "" : "\n") + problem;
  };
  if (config.ring_buffer_size_multiplier == 0) {
    add("ring_buffer_size_multiplier is 0, allowed are 1 and more");
  }
  const auto check_time = [&](const char* name, std::chrono::nanoseconds time) {
    if (time.count() >= 0) return;
    add(std::string(name) + " is " + std::to_string(time.count()) + ", allowed are 0 and more");
  };
  check_time("timeout_ns", config.timeout_ns);
  check_time("batch_size_timeout_ns", config.batch_size_timeout_ns);
  if (num_replicas == 0) add("a model needs at least one device");
  if (num_replicas > 1 && !config.flush_by_name.second.empty()) {
    add("flush_by_name has outputs, which " + std::to_string(num_replicas) +
        " replicas would write at the same time: leave them out or have one replica");
  }
  if (!problems.empty()) throw Error(problems);
}

const popef::Model& Checked(const std::shared_ptr<const popef::Model>& model) {
  if (model == nullptr) throw Error("there is no model");
  return *model;
}

}  // namespace

struct Engine::State {
  State(const popef::Model& source, const EngineConfig& config)
      : model(source, config),
        log(config.flush_on_waiting_outputs, config.request_tracepoints_buffer_size) {}

  Replica& At(unsigned id) {
    if (id < replicas.size()) return *replicas[id];
    throw Error("replica_id is " + std::to_string(id) +
                (replicas.size() == 1
                     ? ", allowed is 0: there is one replica"
                     : ", allowed are 0 to " + std::to_string(replicas.size() - 1) +
                           ": there are " + std::to_string(replicas.size()) + " replicas"));
  }

  ServedModel model;
  TracepointLog log;
  std::vector<std::unique_ptr<Replica>> replicas;
};

Engine::Engine(const std::shared_ptr<const popef::Model>& model,
               std::vector<std::shared_ptr<poprt::device::Device>> devices,
               const EngineConfig& config) {
  CheckConfig(config, devices.size());
  state_ = std::make_unique<State>(Checked(model), config);
  for (std::shared_ptr<poprt::device::Device>& device : devices) {
    const auto id = static_cast<unsigned>(state_->replicas.size());
    if (device == nullptr) throw Error("there is no device for replica " + std::to_string(id));
    state_->replicas.push_back(
        std::make_unique<Replica>(state_->model, std::move(device), config, id, state_->log));
  }
}

Engine::Engine(const std::shared_ptr<const popef::Model>& model,
               std::shared_ptr<poprt::device::Device> device, const EngineConfig& config)
    : Engine(model, std::vector{std::move(device)}, config) {}

Engine::~Engine() = default;

const std::vector<DataDesc>& Engine::inputs() const { return state_->model.inputs(); }
const std::vector<DataDesc>& Engine::outputs() const { return state_->model.outputs(); }
const std::vector<DataDesc>& Engine::model_inputs() const { return state_->model.model_inputs(); }
const std::vector<DataDesc>& Engine::model_outputs() const { return state_->model.model_outputs(); }

unsigned Engine::num_replicas() const { return static_cast<unsigned>(state_->replicas.size()); }

const DataDesc* Engine::Describe(std::string_view name) const {
  return state_->model.Describe(name);
}

void Engine::Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
                     unsigned replica) {
  state_->At(replica).Execute(inputs, outputs);
}

void Engine::Submit(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
                    Done done, unsigned replica) {
  state_->At(replica).Submit(inputs, outputs, std::move(done));
}

std::vector<DataDesc> Engine::OutputsFor(std::span<const InputBuffer> inputs) const {
  return state_->model.OutputsFor(inputs);
}

void Engine::SetVariable(std::string_view name, const ConstTensorMemoryView& memory) {
  state_->model.variables().Override(name, memory);
}

void Engine::LoadVariables() {
  for (const auto& replica : state_->replicas) replica->LoadVariables();
}

std::vector<RequestTracepoint> Engine::Tracepoints() const { return state_->log.Read(); }

}  // namespace model_runtime
