#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "model_runtime/serving/batch_composer.hpp"
#include "model_runtime/serving/device_program.hpp"
#include "model_runtime/serving/engine_config.hpp"
#include "model_runtime/serving/request_queue.hpp"
#include "model_runtime/serving/served_model.hpp"
#include "model_runtime/serving/tracepoint_log.hpp"

namespace model_runtime {

/// A model on a device of its own, with a queue and a thread that serves it. Thread-safe.
///
/// `running_` guards the device and what belongs to it: a request that nothing is ahead of runs on
/// the thread that calls Execute, or Submit if it is short; all others on the thread of the queue,
/// which starts when it is first needed.
class Replica {
 public:
  /// `model` and `log` must outlive the replica.
  Replica(const ServedModel& model, std::shared_ptr<poprt::device::Device> device,
          const EngineConfig& config, unsigned id, TracepointLog& log);
  /// Finishes the request that runs; others get an Error. Returns when no call is left inside.
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// As Engine::Execute and Engine::Submit.
  void Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs);
  void Submit(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
              std::function<void(std::exception_ptr)> done);

  /// Runs the load program between two requests.
  void LoadVariables();

 private:
  /// Runs a request on this thread if it needs no others; the caller holds `running_`.
  bool RunHere(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs);
  void RunInQueue(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs);
  /// Whether nothing is ahead of the request and it takes less time than the way through the queue;
  /// then it has run on this thread and is answered.
  bool RunAtOnce(Request* request);
  /// RunBatches, with a look at the clock.
  const DeviceFailure* RunTimed(Route& route);
  /// Runs the batches where they lie, which moves the route's pointers; the caller holds
  /// `running_`.
  const DeviceFailure* RunBatches(Route& route);
  void Advance(Route& route) const;
  bool LiesInWholeBatches(const Route& route) const;
  void SetShapes(const Route& route) const;

  std::optional<BatchComposer> MakeComposer(const EngineConfig& config);
  void StartWorker();
  void ServeQueue();
  void Serve(Request* request);
  void AttendWaitingRows();
  /// Ends a request that was taken from the queue.
  void Finish(Request* request, std::exception_ptr error) noexcept;
  void Answer(Request* request, std::exception_ptr error) noexcept;
  bool OnWorker() const;

  const ServedModel& model_;
  TracepointLog& log_;
  const unsigned id_;
  const DeviceFailure destroyed_;

  std::mutex running_;
  DeviceProgram program_;
  Route route_;                                        ///< of requests that run where they are made
  std::vector<std::chrono::nanoseconds> batch_times_;  ///< of each branch, when last measured

  RequestQueue queue_;
  SpinWait completed_;                     ///< of threads in RunInQueue
  std::optional<BatchComposer> composer_;  ///< of the worker
  DeviceFailure batch_failure_;            ///< of the worker: what its last batch died of
  std::mutex starting_;
  std::thread worker_;
  std::atomic<bool> started_{false};
  std::atomic<std::uint64_t> unanswered_{0};  ///< requests in the queue, or on their way out of it
  std::atomic<unsigned> calls_{0};            ///< threads inside Execute and Submit
};

}  // namespace model_runtime
