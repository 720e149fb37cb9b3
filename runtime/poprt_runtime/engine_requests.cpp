#include "runtime/poprt_runtime/engine_requests.hpp"

#include "model_runtime/serving/request_by_name.hpp"
#include "runtime/poprt_runtime/descriptions.hpp"

namespace poprt::runtime {

using model_runtime::Engine;
using model_runtime::InputBuffers;
using model_runtime::OutputBuffers;

void Execute(Engine& engine, const InputMemoryView& inputs, const OutputMemoryView& outputs,
             OutputShapes* shapes, unsigned replica) {
  engine.Execute(InputBuffers(inputs), OutputBuffers(outputs, shapes), replica);
}

OutputFutureMemoryView Submit(Engine& engine, const InputMemoryView& inputs,
                              const OutputMemoryView& outputs, OutputShapes* shapes,
                              unsigned replica) {
  return model_runtime::SubmitByName(engine, inputs, outputs, shapes, replica);
}

std::vector<OutputDesc> OutputsFor(const Engine& engine, const InputMemoryView& inputs) {
  return DescribeAll(engine.OutputsFor(InputBuffers(inputs)));
}

std::optional<DataDesc> DescribeTensor(const Engine& engine, const std::string& name) {
  const model_runtime::DataDesc* desc = engine.Describe(name);
  if (desc == nullptr) return std::nullopt;
  return Describe(*desc);
}

}  // namespace poprt::runtime
