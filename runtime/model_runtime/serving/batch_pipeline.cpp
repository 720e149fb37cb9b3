#include "model_runtime/serving/batch_pipeline.hpp"

#include <algorithm>
#include <utility>

namespace model_runtime {
namespace {

/// Adds the time of a scope.
class Timed {
 public:
  explicit Timed(BatchPipeline::Clock::duration& sum) : sum_(sum) {}
  ~Timed() { sum_ += BatchPipeline::Clock::now() - start_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  BatchPipeline::Clock::duration& sum_;
  const BatchPipeline::Clock::time_point start_ = BatchPipeline::Clock::now();
};

/// Batches hold a buffer each, but for one that is stored while the next is loaded into its buffer.
unsigned DepthOf(const poprt::device::LoadedProgram& program) {
  return static_cast<unsigned>(program.num_stream_buffers()) +
         (program.takes_inputs_before_store() ? 1 : 0);
}

}  // namespace

BatchPipeline::BatchPipeline(const std::shared_ptr<const poprt::device::Image>& image,
                             std::shared_ptr<poprt::device::Device> device,
                             const SharedVariables& variables, bool auto_reset)
    : program_(image, std::move(device), variables, auto_reset),
      num_stages_(program_.loaded().num_stages()),
      takes_inputs_before_store_(program_.loaded().takes_inputs_before_store()),
      depth_(DepthOf(program_.loaded())),
      times_(image->payload.program.branches.size()),
      buffers_(program_.loaded().num_stream_buffers()) {
  for (auto& time : times_) time = std::chrono::nanoseconds::max();
  under_way_.reserve(depth_);
}

BatchPipeline::Lock BatchPipeline::LockDevice() {
  Lock lock(mutex_);
  if (under_way_.empty()) return lock;
  ++waiting_for_idle_;
  idle_.wait(lock, [&] { return under_way_.empty(); });
  if (--waiting_for_idle_ == 0) room_.notify_all();
  return lock;
}

BatchPipeline::Lock BatchPipeline::LockIdleDevice() {
  Lock lock(mutex_);
  if (!under_way_.empty()) lock.unlock();
  return lock;
}

BatchPipeline::Lock BatchPipeline::TryLockDevice() {
  Lock lock(mutex_, std::try_to_lock);
  if (lock && !under_way_.empty()) lock.unlock();
  return lock;
}

std::optional<DeviceFailure> BatchPipeline::LastingFailure() {
  const Lock lock(mutex_);
  const DeviceFailure* failure = program_.lasting_failure();
  if (failure == nullptr) return std::nullopt;
  std::optional<DeviceFailure> copy(std::in_place);
  copy->Keep(*failure);
  return copy;
}

bool BatchPipeline::Enter(Passage& passage) {
  Lock lock(mutex_);
  room_.wait(lock,
             [&] { return closed_ || (under_way_.size() < depth_ && waiting_for_idle_ == 0); });
  if (closed_) return false;
  under_way_.push_back(&passage);
  return true;
}

void BatchPipeline::Close() {
  const Lock lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

void BatchPipeline::Accompany(Passage& own) {
  Lock lock(mutex_);
  while (own.state_ != State::kDone) {
    const Task task = NextTask();
    if (task.passage == nullptr) {
      own.sleeps_ = true;
      own.wake_.wait(lock);
      own.sleeps_ = false;
      continue;
    }
    Begin(task);
    if (NextTask().passage != nullptr) WakeOne();
    switch (task.meanwhile) {
      case State::kLoads:
        Load(lock, *task.passage);
        break;
      case State::kComputes:
        Compute(lock, *task.passage);
        break;
      default:
        Store(lock, *task.passage);
    }
  }
  std::erase(under_way_, &own);
  if (under_way_.empty()) idle_.notify_all();
  room_.notify_one();
  if (NextTask().passage != nullptr) WakeOne();
}

BatchPipeline::Task BatchPipeline::NextTask() const {
  // Whatever ends a request or keeps the device busy comes first.
  for (Passage* passage : under_way_) {
    if (passage->state_ == State::kComputed) return {passage, State::kStores};
  }
  const Passage* ahead = nullptr;
  for (Passage* passage : under_way_) {
    if (CanCompute(*passage, ahead)) return {passage, State::kComputes};
    ahead = passage;
  }
  for (Passage* passage : under_way_) {
    if (passage->state_ == State::kCame && FreeInputs()) return {passage, State::kLoads};
  }
  return {};
}

bool BatchPipeline::CanCompute(const Passage& passage, const Passage* ahead) const {
  if (passage.state_ != State::kWaits) return false;
  const bool has_left =
      ahead == nullptr || ahead->state_ > State::kComputes || ahead->stage_ > passage.stage_;
  return has_left && (passage.stage_ > 0 || CanBegin(passage));
}

bool BatchPipeline::CanBegin(const Passage& passage) const {
  if (takes_inputs_before_store_ && buffers_[passage.buffer_].has_outputs) return false;
  if (!program_.must_reset()) return true;
  // Whoever uses the program ends before it goes.
  return std::ranges::all_of(under_way_, [](const Passage* other) {
    const bool is_loaded = other->state_ == State::kWaits && other->stage_ == 0;
    return is_loaded || other->state_ == State::kCame || other->state_ == State::kDone;
  });
}

std::optional<std::size_t> BatchPipeline::FreeInputs() const {
  const auto free = std::ranges::find_if(
      buffers_, [](const Buffer& buffer) { return !buffer.has_inputs && !buffer.has_outputs; });
  if (free != buffers_.end()) return static_cast<std::size_t>(free - buffers_.begin());
  if (!takes_inputs_before_store_) return std::nullopt;
  const auto stored = std::ranges::find(buffers_, false, &Buffer::has_inputs);
  if (stored == buffers_.end()) return std::nullopt;
  return static_cast<std::size_t>(stored - buffers_.begin());
}

void BatchPipeline::Begin(const Task& task) {
  Passage& passage = *task.passage;
  if (task.meanwhile == State::kLoads) {
    passage.buffer_ = *FreeInputs();
    buffers_[passage.buffer_].has_inputs = true;
  } else if (task.meanwhile == State::kComputes) {
    buffers_[passage.buffer_].has_outputs = true;
  }
  passage.state_ = task.meanwhile;
}

void BatchPipeline::Load(Lock& lock, Passage& passage) {
  if (program_.is_ready()) {  // else they would be lost: whoever resets the device loads then
    passage.generation_ = program_.generation();
    lock.unlock();
    {
      const Timed timed(passage.time_);
      program_.loaded().Load(passage.buffer_, passage.batch_.branch, passage.batch_.inputs);
    }
    lock.lock();
  }
  passage.state_ = State::kWaits;
}

void BatchPipeline::Compute(Lock& lock, Passage& passage) {
  const Batch& batch = passage.batch_;
  const DeviceFailure* problem = nullptr;
  if (!passage.failure_ && passage.stage_ == 0) problem = program_.Prepare();
  if (!passage.failure_ && problem == nullptr) {
    const bool is_loaded = passage.generation_ == program_.generation();
    passage.generation_ = program_.generation();
    lock.unlock();
    try {
      const Timed timed(passage.time_);
      if (!is_loaded) program_.loaded().Load(passage.buffer_, batch.branch, batch.inputs);
      program_.loaded().Compute(passage.buffer_, batch.branch, passage.stage_, nullptr);
      lock.lock();
    } catch (...) {
      lock.lock();
      problem = &program_.Fail();
    }
  }
  if (problem != nullptr) passage.failure_.emplace().Keep(*problem);
  if (passage.failure_) {
    End(passage);
  } else if (++passage.stage_ < num_stages_) {
    passage.state_ = State::kWaits;
  } else {
    buffers_[passage.buffer_].has_inputs = false;
    passage.state_ = State::kComputed;
  }
}

void BatchPipeline::Store(Lock& lock, Passage& passage) {
  const Batch& batch = passage.batch_;
  lock.unlock();
  {
    const Timed timed(passage.time_);
    program_.loaded().Store(passage.buffer_, batch.branch, batch.outputs, batch.extents);
  }
  lock.lock();
  times_[batch.branch] = passage.time_;
  End(passage);
}

void BatchPipeline::End(Passage& passage) {
  Buffer& buffer = buffers_[passage.buffer_];
  if (passage.state_ == State::kComputes) buffer.has_inputs = false;
  buffer.has_outputs = false;
  passage.state_ = State::kDone;
  passage.wake_.notify_one();
}

void BatchPipeline::WakeOne() {
  for (Passage* passage : under_way_) {
    if (!std::exchange(passage->sleeps_, false)) continue;
    passage->wake_.notify_one();
    return;
  }
}

}  // namespace model_runtime
