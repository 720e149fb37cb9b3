#include "runtime/poprt_runtime/engine_requests.hpp"

#include <exception>
#include <memory>
#include <span>
#include <utility>

#include "runtime/poprt_runtime/descriptions.hpp"

namespace poprt::runtime {
namespace {

using model_runtime::Engine;
using model_runtime::InputBuffer;
using model_runtime::OutputBuffer;

/// Buffers of the calling thread; names point into the map.
std::span<const InputBuffer> InputBuffers(const InputMemoryView& inputs) {
  std::vector<InputBuffer>& buffers = model_runtime::InputScratch();
  for (const auto& [name, view] : inputs) buffers.push_back({name, view.data, view.dataSizeBytes});
  return buffers;
}

/// `shapes` may be null.
std::span<const OutputBuffer> OutputBuffers(const OutputMemoryView& outputs, OutputShapes* shapes) {
  std::vector<OutputBuffer>& buffers = model_runtime::OutputScratch();
  for (const auto& [name, view] : outputs) {
    buffers.push_back(
        {name, view.data, view.dataSizeBytes, shapes == nullptr ? nullptr : &(*shapes)[name]});
  }
  return buffers;
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

  void Finish(const Engine& engine, const OutputShapes& found, std::exception_ptr error) {
    try {
      if (error == nullptr) Shrink(engine, found);
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

}  // namespace

void Execute(Engine& engine, const InputMemoryView& inputs, const OutputMemoryView& outputs,
             OutputShapes* shapes, unsigned replica) {
  engine.Execute(InputBuffers(inputs), OutputBuffers(outputs, shapes), replica);
}

OutputFutureMemoryView Submit(Engine& engine, const InputMemoryView& inputs,
                              const OutputMemoryView& outputs, OutputShapes* shapes,
                              unsigned replica) {
  if (outputs.empty()) {
    Execute(engine, inputs, outputs, shapes, replica);
    return {};
  }
  auto pending = std::make_shared<Pending>();
  pending->inputs = inputs;
  pending->outputs = outputs;
  if (shapes == nullptr) shapes = &pending->shapes;
  OutputFutureMemoryView futures;
  for (const auto& [name, view] : outputs) {
    futures.emplace(name, pending->promises[name].get_future().share());
  }
  const auto input_buffers = InputBuffers(pending->inputs);
  const auto output_buffers = OutputBuffers(pending->outputs, shapes);
  engine.Submit(
      input_buffers, output_buffers,
      [pending = std::move(pending), shapes, &engine](std::exception_ptr error) {
        pending->Finish(engine, *shapes, std::move(error));
      },
      replica);
  return futures;
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
