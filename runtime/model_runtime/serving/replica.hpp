#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "model_runtime/serving/batch_composer.hpp"
#include "model_runtime/serving/batch_pipeline.hpp"
#include "model_runtime/serving/engine_config.hpp"
#include "model_runtime/serving/finish_order.hpp"
#include "model_runtime/serving/request_queue.hpp"
#include "model_runtime/serving/served_model.hpp"
#include "model_runtime/serving/tracepoint_log.hpp"

namespace model_runtime {

/// A model on a device of its own, with a queue and a thread that serves it. Thread-safe.
///
/// A request that nothing is ahead of runs on the thread that calls Execute, or Submit if it is
/// short; all others on the threads of the queue, which start when they are first needed. There is
/// one, or one for each batch that the pipeline has room for. Then they take turns: the one that
/// has taken a batch out of the queue takes it through the device, while the next waits for
/// another.
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
  /// A batch on its way from the queue.
  struct Job {
    Request* request = nullptr;
    bool is_last = false;     ///< of the request
    std::uint64_t order = 0;  ///< among all jobs
  };
  /// What a thread of the queue makes a batch of.
  struct Lane {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    std::vector<std::int64_t> extents;
    std::optional<BatchPipeline::Passage> passage;
  };

  /// Runs a request on this thread if it needs no others.
  bool RunHere(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs);
  /// The device for a request that is to run alone; nothing for one that overlaps with others.
  BatchPipeline::Lock LockFor(const Route& route);
  /// Overlapping with others would take longer than it saves.
  bool IsShort(const Route& route) const;
  void RunInQueue(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs);
  /// Whether nothing is ahead of the request and it takes less time than the way through the queue;
  /// then it has run on this thread and is answered.
  bool RunAtOnce(Request* request);
  /// RunBatches, with a look at the clock.
  const DeviceFailure* RunTimed(Route& route, std::span<std::int64_t> extents);
  /// Runs the batches alone, where they lie, which moves the route's pointers; the caller has the
  /// device.
  const DeviceFailure* RunBatches(Route& route, std::span<std::int64_t> extents);
  /// Moves the pointers of a batch of the route to a later one.
  void Advance(const Route& route, std::uint64_t batches, std::vector<const void*>& inputs,
               std::vector<void*>& outputs) const;
  bool LiesInWholeBatches(const Route& route) const;
  void SetShapes(const Route& route, std::span<const std::int64_t> extents) const;

  std::optional<BatchComposer> MakeComposer(const EngineConfig& config);
  void StartWorkers();
  void ServeQueue(Lane& lane);
  /// Takes requests out of the queue until there is a batch for the pipeline; runs all others.
  /// Nothing when the queue is closed.
  std::optional<Job> TakeJob(Lane& lane);
  bool Overlaps(const Request& request) const;
  void RunJob(const Job& job, Lane& lane);
  void FinishJob(Request& request, const Lane& lane);
  /// Runs a request alone.
  void Serve(Request* request, Lane& lane);
  void AttendWaitingRows();
  /// Ends a request that was taken from the queue.
  void Finish(Request* request, std::exception_ptr error) noexcept;
  void Answer(Request* request, std::exception_ptr error) noexcept;
  bool OnWorker() const;
  bool overlaps() const { return pipeline_.depth() > 1; }

  const ServedModel& model_;
  TracepointLog& log_;
  const unsigned id_;
  const DeviceFailure destroyed_;

  BatchPipeline pipeline_;

  RequestQueue queue_;
  SpinWait completed_;                        ///< of threads in RunInQueue
  std::mutex taking_;                         ///< of the thread that waits at the queue
  std::optional<BatchComposer> composer_;     ///< of the thread that is taking
  const std::chrono::nanoseconds short_run_;  ///< see EngineConfig
  std::vector<std::int64_t> composed_extents_;
  DeviceFailure batch_failure_;   ///< what the composer's last batch died of
  Request* dealt_ = nullptr;      ///< the request whose batches are being taken
  std::uint64_t next_batch_ = 0;  ///< of it
  std::uint64_t next_order_ = 0;  ///< of jobs
  FinishOrder order_;             ///< of jobs

  std::mutex starting_;
  std::vector<Lane> lanes_;
  std::vector<std::thread> workers_;
  std::atomic<bool> started_{false};
  std::atomic<std::uint64_t> unanswered_{0};  ///< requests in the queue, or on their way out of it
  std::atomic<unsigned> calls_{0};            ///< threads inside Execute and Submit
};

}  // namespace model_runtime
