#include "model_runtime/serving/replica.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "model_runtime/serving/call_memory.hpp"
#include "model_runtime/serving/completion.hpp"
#include "model_runtime/serving/visit.hpp"

namespace model_runtime {
namespace {

using Clock = BatchComposer::Clock;
using poprt::program::Branch;

/// The replica whose queue this thread serves.
thread_local const Replica* serving = nullptr;

/// Batches that take less time run one after the other even where they could overlap: passing the
/// device from thread to thread twice would take longer than what it saves.
constexpr std::chrono::nanoseconds kShortBatch = std::chrono::microseconds(50);

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
      pipeline_(model.image(), std::move(device), model.variables(), config.auto_reset),
      queue_(QueueCapacity(model, config)),
      composer_(MakeComposer(config)),
      short_run_(config.short_run_ns),
      composed_extents_(MostOutputs(model.program())),
      lanes_(pipeline_.depth()) {
  for (Lane& lane : lanes_) {
    for (const Branch& branch : model.program().branches) {
      lane.inputs.reserve(branch.inputs.size());
      lane.outputs.reserve(branch.outputs.size());
    }
    lane.extents.resize(MostOutputs(model.program()));
  }
  workers_.reserve(lanes_.size());
}

std::optional<BatchComposer> Replica::MakeComposer(const EngineConfig& config) {
  if (model_.plan() == nullptr) return std::nullopt;
  const auto run = [this](std::size_t branch, std::span<const void* const> inputs,
                          std::span<void* const> outputs) -> const DeviceFailure* {
    const BatchPipeline::Lock device = pipeline_.LockDevice();
    const auto start = Clock::now();
    const DeviceFailure* failure = pipeline_.RunAlone({branch, inputs, outputs, composed_extents_});
    pipeline_.SetTimeOf(branch, Clock::now() - start);
    if (failure == nullptr) return nullptr;
    batch_failure_.Keep(*failure);  // others may run and overwrite it from here on
    return &batch_failure_;
  };
  const auto finish = [this](Request* request, std::exception_ptr error) {
    try {
      if (error == nullptr) SetShapes(request->route, composed_extents_);
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
  for (std::thread& worker : workers_) worker.join();
  if (composer_) composer_->FailAll(destroyed_);
  while (Request* request = queue_.TryPop()) Finish(request, destroyed_.MakeException());
  pipeline_.LockDevice();                        // a request may run on the thread that made it
  while (calls_ > 0) std::this_thread::yield();  // nothing runs: they only have to leave
}

void Replica::Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs) {
  const Visit visit(calls_);
  if (queue_.idle() && RunHere(inputs, outputs)) return;
  RunInQueue(inputs, outputs);
}

bool Replica::RunHere(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs) {
  auto& [route, extents] = MemoryOfCall(composed_extents_.size());
  model_.router().Resolve(inputs, outputs, route);
  if (!LiesInWholeBatches(route)) return false;
  BatchPipeline::Lock device = LockFor(route);
  if (!device && route.batches > 1) return false;  // they overlap with each other
  if (queue_.closed()) destroyed_.Throw();
  const std::uint64_t tracepoint = log_.Queued(id_);
  std::optional<DeviceFailure> failure;
  if (device) {
    log_.Started(tracepoint);
    const DeviceFailure* found = overlaps() ? RunTimed(route, extents) : RunBatches(route, extents);
    if (found != nullptr) failure.emplace().Keep(*found);
    device.unlock();
  } else {
    BatchPipeline::Passage passage({route.branch, route.inputs, route.outputs, extents}, failure);
    const bool has_entered = pipeline_.Enter(passage);
    log_.Started(tracepoint);
    if (has_entered) {
      pipeline_.Accompany(passage);
    } else {
      failure.emplace().Keep(destroyed_);
    }
    if (!failure) SetShapes(route, extents);
  }
  log_.Finished(tracepoint, !failure);
  if (!failure) return true;
  if (composer_) queue_.Wake();  // rows that wait may have to fail as well
  failure->Throw();
}

BatchPipeline::Lock Replica::LockFor(const Route& route) {
  if (!overlaps()) return pipeline_.LockDevice();
  return IsShort(route) ? pipeline_.LockIdleDevice() : BatchPipeline::Lock();
}

bool Replica::IsShort(const Route& route) const {
  return pipeline_.TimeOf(route.branch) < kShortBatch;
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
  StartWorkers();
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
  if (pipeline_.TimeOf(route.branch) >= short_run_ / NumBatches(route)) return false;
  std::exception_ptr error;
  {
    const BatchPipeline::Lock device = pipeline_.TryLockDevice();
    if (!device) return false;
    try {
      log_.Started(*request->tracepoint);
      if (const auto* failure = RunTimed(route, MemoryOfCall(composed_extents_.size()).extents)) {
        error = failure->MakeException();
      }
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error != nullptr && composer_) queue_.Wake();  // rows that wait may have to fail as well
  const Serving here(this);  // what `done` submits goes through the queue: no recursion
  Answer(request, std::move(error));
  return true;
}

const DeviceFailure* Replica::RunTimed(Route& route, std::span<std::int64_t> extents) {
  const auto start = Clock::now();
  const DeviceFailure* failure = RunBatches(route, extents);
  pipeline_.SetTimeOf(route.branch, (Clock::now() - start) / NumBatches(route));
  return failure;
}

const DeviceFailure* Replica::RunBatches(Route& route, std::span<std::int64_t> extents) {
  for (std::uint64_t batch = 0; batch < route.batches; ++batch) {
    if (batch > 0) Advance(route, 1, route.inputs, route.outputs);
    const DeviceFailure* failure =
        pipeline_.RunAlone({route.branch, route.inputs, route.outputs, extents});
    if (failure != nullptr) return failure;
  }
  SetShapes(route, extents);
  return nullptr;
}

void Replica::Advance(const Route& route, std::uint64_t batches, std::vector<const void*>& inputs,
                      std::vector<void*>& outputs) const {
  const Branch& branch = model_.program().branches[route.branch];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (route.repeats[i]) continue;
    inputs[i] = static_cast<const std::byte*>(inputs[i]) +
                batches * branch.slots[branch.inputs[i].slot].type.bytes();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    outputs[i] = static_cast<std::byte*>(outputs[i]) +
                 batches * branch.slots[branch.outputs[i].slot].type.bytes();
  }
}

void Replica::SetShapes(const Route& route, std::span<const std::int64_t> extents) const {
  for (std::size_t i = 0; i < route.shapes.size(); ++i) {
    if (route.shapes[i] != nullptr) *route.shapes[i] = model_.ResultShape(route, i, extents[i]);
  }
}

void Replica::LoadVariables() {
  const BatchPipeline::Lock device = pipeline_.LockDevice();
  pipeline_.LoadVariables();
}

void Replica::StartWorkers() {
  if (started_) return;
  const std::lock_guard lock(starting_);
  if (started_ || queue_.closed()) return;
  try {
    while (workers_.size() < lanes_.size()) {
      workers_.emplace_back([this, &lane = lanes_[workers_.size()]] { ServeQueue(lane); });
    }
  } catch (const std::system_error& error) {
    // One is enough to serve all.
    if (workers_.empty()) {
      throw Error("the thread of the queue of replica " + std::to_string(id_) +
                  " cannot start: " + error.what());
    }
  }
  started_ = true;
}

bool Replica::OnWorker() const { return serving == this; }

void Replica::ServeQueue(Lane& lane) {
  const Serving here(this);
  while (const std::optional<Job> job = TakeJob(lane)) RunJob(*job, lane);
}

std::optional<Replica::Job> Replica::TakeJob(Lane& lane) {
  const std::lock_guard lock(taking_);
  while (dealt_ == nullptr) {
    if (queue_.closed()) return std::nullopt;
    Request* request = queue_.Pop(composer_ ? composer_->deadline() : Clock::time_point::max());
    if (request != nullptr && Overlaps(*request)) {
      dealt_ = request;
      next_batch_ = 0;
    } else if (request != nullptr) {
      order_.Await(next_order_);
      Serve(request, lane);
    }
    if (composer_) AttendWaitingRows();
  }
  const Route& route = dealt_->route;
  lane.inputs.assign(route.inputs.begin(), route.inputs.end());
  lane.outputs.assign(route.outputs.begin(), route.outputs.end());
  Advance(route, next_batch_, lane.inputs, lane.outputs);
  lane.passage.emplace(Batch{route.branch, lane.inputs, lane.outputs, lane.extents},
                       dealt_->failure);
  pipeline_.Enter(*lane.passage);
  if (next_batch_ == 0) log_.Started(*dealt_->tracepoint);
  const bool is_last = ++next_batch_ == route.batches;
  return Job{is_last ? std::exchange(dealt_, nullptr) : dealt_, is_last, next_order_++};
}

bool Replica::Overlaps(const Request& request) const {
  return overlaps() && request.refusal == nullptr && LiesInWholeBatches(request.route) &&
         !IsShort(request.route);
}

void Replica::RunJob(const Job& job, Lane& lane) {
  pipeline_.Accompany(*lane.passage);
  order_.Await(job.order);
  if (job.is_last) FinishJob(*job.request, lane);
  order_.Next();
}

void Replica::FinishJob(Request& request, const Lane& lane) {
  std::exception_ptr error;
  try {
    if (request.failure) {
      error = request.failure->MakeException();
    } else {
      SetShapes(request.route, lane.extents);
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (error != nullptr && composer_) queue_.Wake();  // rows that wait may have to fail as well
  Finish(&request, std::move(error));
}

void Replica::Serve(Request* request, Lane& lane) {
  std::exception_ptr error = std::move(request->refusal);
  try {
    if (error == nullptr) {
      log_.Started(*request->tracepoint);
      if (composer_) {
        composer_->Add(request);
        return;
      }
      const BatchPipeline::Lock device = pipeline_.LockDevice();
      if (const auto* failure = RunTimed(request->route, lane.extents)) {
        error = failure->MakeException();
      }
    }
  } catch (...) {
    error = std::current_exception();
  }
  Finish(request, std::move(error));
}

void Replica::AttendWaitingRows() {
  if (composer_->empty()) return;
  composer_->RunOverdue(Clock::now());
  const std::optional<DeviceFailure> failure = pipeline_.LastingFailure();
  if (failure) composer_->FailAll(*failure);
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
