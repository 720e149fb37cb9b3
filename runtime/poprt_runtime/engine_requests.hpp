#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model_runtime/serving/engine.hpp"
#include "poprt/runtime/runtime_commons.hpp"

/// Requests of poprt::runtime, made to an engine.
namespace poprt::runtime {

/// Runs on the calling thread. Allocates nothing once the thread has made such a request, unless
/// `shapes` is given; that may be null.
void Execute(model_runtime::Engine& engine, const InputMemoryView& inputs,
             const OutputMemoryView& outputs, OutputShapes* shapes, unsigned replica);

/// Queues the request. The futures' views are those of the bytes that results take. `shapes` may be
/// null, otherwise it must live until the futures are ready. Without outputs there is no future to
/// tell the end: the request has run when this returns, and throws what went wrong.
OutputFutureMemoryView Submit(model_runtime::Engine& engine, const InputMemoryView& inputs,
                              const OutputMemoryView& outputs, OutputShapes* shapes,
                              unsigned replica);

/// What a request with these inputs would produce.
std::vector<OutputDesc> OutputsFor(const model_runtime::Engine& engine,
                                   const InputMemoryView& inputs);

/// The input or output that requests may call by `name`.
std::optional<DataDesc> DescribeTensor(const model_runtime::Engine& engine,
                                       const std::string& name);

}  // namespace poprt::runtime
