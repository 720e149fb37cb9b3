#pragma once

#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model_runtime/Tensor.hpp"
#include "model_runtime/serving/engine.hpp"

/// Requests as users make them, of memory by name, made to an engine. Memory is that of
/// model_runtime or of poprt::runtime: views or, for outputs, what owns it.
namespace model_runtime {

template <typename Memory>
using ByName = std::unordered_map<std::string, Memory>;

/// The size of a memory, in bytes: the two kinds spell it differently.
template <typename Memory>
auto& BytesOf(Memory& memory) {
  if constexpr (requires { memory.dataSizeBytes; }) {
    return memory.dataSizeBytes;
  } else {
    return memory.data_size_bytes;
  }
}

/// Buffers of the calling thread, see InputScratch. Names point into the map.
template <typename Memory>
const std::vector<InputBuffer>& InputBuffers(const ByName<Memory>& inputs) {
  std::vector<InputBuffer>& buffers = InputScratch();
  for (const auto& [name, memory] : inputs) {
    buffers.push_back({name, memory.data, BytesOf(memory)});
  }
  return buffers;
}

/// As InputBuffers. The shapes of the results go to `shapes` if it is not null.
template <typename Memory>
const std::vector<OutputBuffer>& OutputBuffers(const ByName<Memory>& outputs,
                                               OutputShapes* shapes) {
  std::vector<OutputBuffer>& buffers = OutputScratch();
  for (const auto& [name, memory] : outputs) {
    buffers.push_back({name, std::to_address(memory.data), BytesOf(memory),
                       shapes == nullptr ? nullptr : &(*shapes)[name]});
  }
  return buffers;
}

/// The types of results with an open axis. To be asked for before the request runs: when it is
/// done the engine may be gone.
using OpenOutputs = std::vector<std::pair<std::string, popef::DataType>>;

template <typename Memory>
OpenOutputs FindOpenOutputs(const Engine& engine, const ByName<Memory>& outputs) {
  OpenOutputs open;
  for (const auto& [name, memory] : outputs) {
    const DataDesc* desc = engine.Describe(name);
    if (desc != nullptr && desc->open_axis) open.emplace_back(name, desc->data_type);
  }
  return open;
}

/// Reduces the memory of results with an open axis to what they take of it.
template <typename Memory>
void Shrink(const OpenOutputs& open, const OutputShapes& shapes, ByName<Memory>& outputs) {
  for (const auto& [name, type] : open) {
    BytesOf(outputs.at(name)) = popef::TensorInfo(type, shapes.at(name)).sizeInBytes();
  }
}

/// A queued request: what must live until it is done, and the promises that end it.
template <typename Input, typename Output>
struct PendingRequest {
  ByName<Input> inputs;  ///< these and `outputs` own the names the engine's buffers point to
  ByName<Output> outputs;
  ByName<std::promise<Output>> promises;
  OpenOutputs open;
  OutputShapes shapes;  ///< for callers that do not ask

  ByName<std::shared_future<Output>> Futures() {
    ByName<std::shared_future<Output>> futures;
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

/// Queues a request. The futures' memory is what the results take of that in `outputs`. `shapes`
/// may be null, otherwise it must live until the futures are ready. Without outputs there is no
/// future to tell the end of the request: it has run when this returns, and throws what went wrong.
template <typename Input, typename Output>
ByName<std::shared_future<Output>> SubmitByName(Engine& engine, const ByName<Input>& inputs,
                                                ByName<Output> outputs, OutputShapes* shapes,
                                                unsigned replica) {
  if (outputs.empty()) {
    engine.Execute(InputBuffers(inputs), {}, replica);
    return {};
  }
  auto pending = std::make_shared<PendingRequest<Input, Output>>();
  pending->inputs = inputs;
  pending->outputs = std::move(outputs);
  pending->open = FindOpenOutputs(engine, pending->outputs);
  if (shapes == nullptr) shapes = &pending->shapes;
  auto futures = pending->Futures();
  const auto& input_buffers = InputBuffers(pending->inputs);
  const auto& output_buffers = OutputBuffers(pending->outputs, shapes);
  engine.Submit(
      input_buffers, output_buffers,
      [pending = std::move(pending), shapes](std::exception_ptr error) {
        pending->Finish(*shapes, std::move(error));
      },
      replica);
  return futures;
}

}  // namespace model_runtime
