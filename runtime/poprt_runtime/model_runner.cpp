#include "poprt/runtime/model_runner.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/poprt_runtime/descriptions.hpp"
#include "runtime/poprt_runtime/engine_factory.hpp"
#include "runtime/poprt_runtime/engine_requests.hpp"

namespace poprt::runtime {

ModelRunner::ModelRunner(const std::string& popefPath, const RuntimeConfig& config)
    : engine_(MakeEngine(Executable(popefPath), config)) {}

ModelRunner::ModelRunner(const std::shared_ptr<Executable>& executable,
                         const RuntimeConfig& config) {
  if (executable == nullptr) throw std::runtime_error("a ModelRunner needs an executable");
  engine_ = MakeEngine(*executable, config);
}

ModelRunner::~ModelRunner() = default;

unsigned ModelRunner::NextReplica() {
  const unsigned replicas = engine_->num_replicas();
  return replicas == 1 ? 0 : next_replica_.fetch_add(1, std::memory_order_relaxed) % replicas;
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
  Execute(*engine_, inputs, outputs, nullptr, NextReplica());
}

void ModelRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs,
                          OutputShapes& shapes) {
  Execute(*engine_, inputs, outputs, &shapes, NextReplica());
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs) {
  return Submit(*engine_, inputs, outputs, nullptr, NextReplica());
}

OutputFutureMemoryView ModelRunner::executeAsync(const InputMemoryView& inputs,
                                                 const OutputMemoryView& outputs,
                                                 OutputShapes& shapes) {
  return Submit(*engine_, inputs, outputs, &shapes, NextReplica());
}

std::vector<OutputDesc> ModelRunner::outputsFor(const InputMemoryView& inputs) const {
  return OutputsFor(*engine_, inputs);
}

std::optional<DataDesc> ModelRunner::describe(const std::string& name) const {
  return DescribeTensor(*engine_, name);
}

std::vector<InputDesc> ModelRunner::getExecuteInputs() const {
  return DescribeAll(engine_->inputs());
}
std::vector<OutputDesc> ModelRunner::getExecuteOutputs() const {
  return DescribeAll(engine_->outputs());
}
std::vector<InputDesc> ModelRunner::getModelInputs() const {
  return DescribeAll(engine_->model_inputs());
}
std::vector<OutputDesc> ModelRunner::getModelOutputs() const {
  return DescribeAll(engine_->model_outputs());
}

}  // namespace poprt::runtime
