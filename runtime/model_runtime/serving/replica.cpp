#include "model_runtime/serving/replica.hpp"

#include <algorithm>
#include <condition_variable>
#include <string>
#include <system_error>
#include <utility>

namespace model_runtime {
namespace {

using Clock = BatchComposer::Clock;
using poprt::program::Branch;

/// The replica whose queue this thread serves.
thread_local const Replica* serving = nullptr;

/// The longest run, as far as one can tell, of a request that Submit runs itself: to hand it to
/// another thread and to be woken by that takes as long on a quiet machine, and longer on others.
constexpr std::chrono::nanoseconds kShortRun = std::chrono::microseconds(10);

/// Makes this thread one that serves `replica`, for a while.
class Serving {
 public:
  explicit Serving(const Replica* replica) : before_(std::exchange(serving, replica)) {}
  ~Serving() { serving = before_; }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  const Replica* before_;
};

/// At least one.
std::int64_t NumBatches(const Route& route) {
  return static_cast<std::int64_t>(std::max<std::uint64_t>(route.batches, 1));
}

/// Counts a thread in and out.
class Visit {
 public:
  explicit Visit(std::atomic<unsigned>& visitors) : visitors_(visitors) { ++visitors_; }
  ~Visit() { --visitors_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  std::atomic<unsigned>& visitors_;
};

/// Waits for the end of one queued request.
class Completion {
 public:
  void Complete(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    done_ = true;
    completed_.notify_one();
  }
  /// Rethrows the error if there is one.
  void Wait(SpinWait& spin) {
    const auto done = [this] { return done_.load(); };
    spin.Wait(done, [&] {
      std::unique_lock lock(mutex_);
      completed_.wait(lock, done);
    });
    {
      const std::lock_guard lock(mutex_);  // Complete may still be inside
    }
    if (error_ != nullptr) std::rethrow_exception(std::move(error_));
  }

 private:
  std::mutex mutex_;
  std::condition_variable completed_;
  std::atomic<bool> done_{false};
  std::exception_ptr error_;
};

/// How long rows wait for others.
Clock::duration RowWait(const EngineConfig& config) {
  constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24 * 365);
  if (config.timeout_ns == std::chrono::nanoseconds(0)) return Clock::duration::max();
  const auto wait = config.is_batch_size_timeout_enabled
                        ? std::max(config.timeout_ns, config.batch_size_timeout_ns)
                        : config.timeout_ns;
  return wait < kForever ? wait : Clock::duration::max();
}

std::uint64_t QueueCapacity(const ServedModel& model, const EngineConfig& config) {
  return std::uint64_t{config.ring_buffer_size_multiplier} *
         std::max<std::uint64_t>(model.program().batches_per_step, 1);
}

}  // namespace

Replica::Replica(const ServedModel& model, std::shared_ptr<poprt::device::Device> device,
                 const EngineConfig& config, unsigned id, TracepointLog& log)
    : model_(model),
      log_(log),
      id_(id),
      destroyed_(DeviceFailure::Other("the runner was destroyed before the request ran")),
      program_(model.image(), std::move(device), model.variables(), config.auto_reset),
      batch_times_(model.program().branches.size(), Clock::duration::max()),
      queue_(QueueCapacity(model, config)),
      composer_(MakeComposer(config)) {}

std::optional<BatchComposer> Replica::MakeComposer(const EngineConfig& config) {
  if (model_.plan() == nullptr) return std::nullopt;
  const auto run = [this](std::size_t branch, std::span<const void* const> inputs,
                          std::span<void* const> outputs) -> const DeviceFailure* {
    const std::lock_guard lock(running_);
    const auto start = Clock::now();
    const DeviceFailure* failure = program_.Run(branch, inputs, outputs);
    batch_times_[branch] = Clock::now() - start;
    if (failure == nullptr) return nullptr;
    batch_failure_.Keep(*failure);  // others may run and overwrite it from here on
    return &batch_failure_;
  };
  const auto finish = [this](Request* request, std::exception_ptr error) {
    try {
      if (error == nullptr) SetShapes(request->route);
    } catch (...) {
      error = std::current_exception();
    }
    Finish(request, std::move(error));
  };
  return BatchComposer(*model_.plan(), model_.program(), model_.fillers(), RowWait(config), run,
                       finish);
}

Replica::~Replica() {
  {
    const std::lock_guard lock(starting_);
    queue_.Close();
  }
  if (worker_.joinable()) worker_.join();
  if (composer_) composer_->FailAll(destroyed_);
  while (Request* request = queue_.TryPop()) Finish(request, destroyed_.MakeException());
  {
    const std::lock_guard lock(running_);  // a request may run on the thread that made it
  }
  while (calls_ > 0) std::this_thread::yield();  // nothing runs: they only have to leave
}

void Replica::Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs) {
  const Visit visit(calls_);
  if (queue_.idle()) {
    const std::lock_guard lock(running_);
    if (RunHere(inputs, outputs)) return;
  }
  RunInQueue(inputs, outputs);
}

bool Replica::RunHere(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs) {
  if (queue_.closed()) destroyed_.Throw();
  model_.router().Resolve(inputs, outputs, route_);
  if (!LiesInWholeBatches(route_)) return false;
  const std::uint64_t tracepoint = log_.Queued(id_);
  log_.Started(tracepoint);
  const DeviceFailure* failure = RunBatches(route_);
  log_.Finished(tracepoint, failure == nullptr);
  if (failure == nullptr) return true;
  if (composer_) queue_.Wake();  // rows that wait may have to fail as well
  failure->Throw();
}

bool Replica::LiesInWholeBatches(const Route& route) const {
  const BatchPlan* plan = model_.plan();
  if (plan == nullptr) return true;
  const BatchPlan::Branch& branch = plan->branch(route.branch);
  return route.rows == branch.rows || (branch.contiguous && route.rows % branch.rows == 0);
}

void Replica::RunInQueue(std::span<const InputBuffer> inputs,
                         std::span<const OutputBuffer> outputs) {
  Completion completion;
  Submit(inputs, outputs,
         [&completion](std::exception_ptr error) { completion.Complete(std::move(error)); });
  completion.Wait(completed_);
}

void Replica::Submit(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
                     std::function<void(std::exception_ptr)> done) {
  const Visit visit(calls_);
  StartWorker();
  Request* request = queue_.NewRequest();
  try {
    model_.router().Resolve(inputs, outputs, request->route);
    request->tracepoint = log_.Queued(id_);
  } catch (...) {
    request->refusal = std::current_exception();
    request->route.batches = 1;  // takes room in the queue like others
    request->tracepoint.reset();
  }
  request->done = std::move(done);
  if (RunAtOnce(request)) return;
  ++unanswered_;
  if (queue_.Push(request, OnWorker())) return;
  --unanswered_;
  done = std::move(request->done);
  queue_.Recycle(request);
  done(destroyed_.MakeException());
}

bool Replica::RunAtOnce(Request* request) {
  if (unanswered_ > 0 || queue_.closed() || OnWorker() || request->refusal != nullptr) return false;
  Route& route = request->route;
  if (!LiesInWholeBatches(route)) return false;
  std::exception_ptr error;
  {
    const std::unique_lock running(running_, std::try_to_lock);
    if (!running || batch_times_[route.branch] > kShortRun / NumBatches(route)) return false;
    try {
      log_.Started(*request->tracepoint);
      if (const auto* failure = RunTimed(route)) error = failure->MakeException();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error != nullptr && composer_) queue_.Wake();  // rows that wait may have to fail as well
  const Serving here(this);  // what `done` submits goes through the queue: no recursion
  Answer(request, std::move(error));
  return true;
}

const DeviceFailure* Replica::RunTimed(Route& route) {
  const auto start = Clock::now();
  const DeviceFailure* failure = RunBatches(route);
  batch_times_[route.branch] = (Clock::now() - start) / NumBatches(route);
  return failure;
}

const DeviceFailure* Replica::RunBatches(Route& route) {
  for (std::uint64_t batch = 0; batch < route.batches; ++batch) {
    if (batch > 0) Advance(route);
    if (const auto* failure = program_.Run(route.branch, route.inputs, route.outputs)) {
      return failure;
    }
  }
  SetShapes(route);
  return nullptr;
}

void Replica::Advance(Route& route) const {
  const Branch& branch = model_.program().branches[route.branch];
  for (std::size_t i = 0; i < route.inputs.size(); ++i) {
    if (route.repeats[i]) continue;
    route.inputs[i] = static_cast<const std::byte*>(route.inputs[i]) +
                      branch.slots[branch.inputs[i].slot].type.bytes();
  }
  for (std::size_t i = 0; i < route.outputs.size(); ++i) {
    if (route.outputs[i] == nullptr) continue;
    route.outputs[i] = static_cast<std::byte*>(route.outputs[i]) +
                       branch.slots[branch.outputs[i].slot].type.bytes();
  }
}

void Replica::SetShapes(const Route& route) const {
  for (std::size_t i = 0; i < route.shapes.size(); ++i) {
    if (route.shapes[i] == nullptr) continue;
    // Only models without a plan have extents; their caller holds `running_`.
    const std::int64_t extent = composer_ ? 0 : program_.extents()[i];
    *route.shapes[i] = model_.ResultShape(route, i, extent);
  }
}

void Replica::LoadVariables() {
  const std::lock_guard lock(running_);
  program_.LoadVariables();
}

void Replica::StartWorker() {
  if (started_) return;
  const std::lock_guard lock(starting_);
  if (started_ || queue_.closed()) return;
  try {
    worker_ = std::thread([this] { ServeQueue(); });
  } catch (const std::system_error& error) {
    throw Error("the thread of the queue of replica " + std::to_string(id_) +
                " cannot start: " + error.what());
  }
  started_ = true;
}

bool Replica::OnWorker() const { return serving == this; }

void Replica::ServeQueue() {
  const Serving here(this);
  while (!queue_.closed()) {
    Request* request = queue_.Pop(composer_ ? composer_->deadline() : Clock::time_point::max());
    if (request != nullptr) Serve(request);
    if (composer_) AttendWaitingRows();
  }
}

void Replica::Serve(Request* request) {
  std::exception_ptr error = std::move(request->refusal);
  try {
    if (error == nullptr) {
      log_.Started(*request->tracepoint);
      if (composer_) {
        composer_->Add(request);
        return;
      }
      const std::lock_guard lock(running_);
      if (const auto* failure = RunTimed(request->route)) error = failure->MakeException();
    }
  } catch (...) {
    error = std::current_exception();
  }
  Finish(request, std::move(error));
}

void Replica::AttendWaitingRows() {
  if (composer_->empty()) return;
  composer_->RunOverdue(Clock::now());
  {
    const std::lock_guard lock(running_);
    const DeviceFailure* failure = program_.lasting_failure();
    if (failure == nullptr) return;
    batch_failure_.Keep(*failure);
  }
  composer_->FailAll(batch_failure_);
}

void Replica::Finish(Request* request, std::exception_ptr error) noexcept {
  queue_.Finished();
  Answer(request, std::move(error));
  --unanswered_;
}

void Replica::Answer(Request* request, std::exception_ptr error) noexcept {
  if (request->tracepoint) log_.Finished(*request->tracepoint, error == nullptr);
  const auto done = std::move(request->done);
  queue_.Recycle(request);
  done(std::move(error));
}

}  // namespace model_runtime
