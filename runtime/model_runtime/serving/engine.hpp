#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "model_runtime/Errors.hpp"
#include "model_runtime/RequestTracepoint.hpp"
#include "model_runtime/serving/engine_config.hpp"
#include "model_runtime/serving/request.hpp"
#include "popef/Model.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

/// Replicas of a model, each on a device of its own, that serve requests: what ModelRunner and the
/// runners of poprt have in common. Thread-safe.
///
/// A request for a fused model runs one graph: the one `index` selects, or the one its tensors
/// belong to. Tensors of graph i may be called by the name of the graph, "resnet/x", or by its
/// number, "graph0/x". A request whose tensors are N times the size of the model's runs N times,
/// unless an output of the graph has an open axis. With EngineConfig::batching_dim requests may
/// have any number of rows, and those of several make a batch: see ModelRunnerConfig.
///
/// A replica runs one request at a time. Requests of its queue begin in the order of their
/// submission; so does an Execute that comes while some are queued.
class Engine {
 public:
  /// One replica for each device. Throws Error when the container is not for this runtime or the
  /// configuration cannot be served, popef::Error when the container is damaged; the latter names
  /// the file. Memory that `config` names must outlive the engine.
  Engine(const std::shared_ptr<const popef::Model>& model,
         std::vector<std::shared_ptr<poprt::device::Device>> devices, const EngineConfig& config);
  Engine(const std::shared_ptr<const popef::Model>& model,
         std::shared_ptr<poprt::device::Device> device, const EngineConfig& config);
  /// Finishes the requests that run; requests that wait get an Error.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Of requests: with frozen inputs, without variables and inputs that the container has the data
  /// of. A request may give the latter nevertheless.
  const std::vector<DataDesc>& inputs() const;
  const std::vector<DataDesc>& outputs() const;
  /// With these, and the outputs of the save program.
  const std::vector<DataDesc>& model_inputs() const;
  const std::vector<DataDesc>& model_outputs() const;
  unsigned num_replicas() const;

  /// The input or output a request may call by `name`, or null. Lives as long as the engine.
  const DataDesc* Describe(std::string_view name) const;

  /// Returns when the outputs are written. Runs on the calling thread unless the replica's queue
  /// has requests or rows must wait for others; allocates nothing once a request like it has run.
  /// Throws Error; nothing is written when the request is refused. Buffers may be in any order:
  /// InputScratch() is memory for them.
  void Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
               unsigned replica = 0);

  /// Queues a request and returns; the buffers are copied, what they point to must live until
  /// `done` is called, with null after success. `done` is called for each request once, also when
  /// the request is refused. It must not throw, call Execute or destroy the engine; move the error
  /// out of it. It is called on a thread of the engine or, when the replica is idle and the request
  /// takes less time than the way there (EngineConfig::short_run_ns), by Submit.
  ///
  /// When the replica's queue holds as many batches as EngineConfig::ring_buffer_size_multiplier
  /// times the batches of a step, Submit waits until the device has taken some (never when `done`
  /// calls it). Throws Error if there is no such replica or its thread cannot start; `done` is not
  /// called when it throws.
  using Done = std::function<void(std::exception_ptr error)>;
  void Submit(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs, Done done,
              unsigned replica = 0);

  /// Descriptions of the outputs the request would produce, at its multiple of the batch or with
  /// its rows: what to allocate for it. Sizes and shapes are of the whole request. Throws Error as
  /// Execute does.
  std::vector<DataDesc> OutputsFor(std::span<const InputBuffer> inputs) const;

  /// Uses user memory for a variable of the model from the next LoadVariables on; it must stay
  /// until it is replaced, since a reset loads it again. Throws Error if there is no such variable
  /// or it has another size.
  void SetVariable(std::string_view name, const ConstTensorMemoryView& memory);

  /// Loads all variables on every replica: requests that begin after it returns use the new values.
  /// Throws Error.
  void LoadVariables();

  /// The last requests that were not refused, if EngineConfig::flush_on_waiting_outputs.
  std::vector<RequestTracepoint> Tracepoints() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace model_runtime
