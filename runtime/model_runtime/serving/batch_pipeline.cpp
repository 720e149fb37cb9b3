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

}  // namespace

BatchPipeline::BatchPipeline(const std::shared_ptr<const poprt::device::Image>& image,
                             std::shared_ptr<poprt::device::Device> device,
                             const SharedVariables& variables, bool auto_reset)
    : program_(image, std::move(device), variables, auto_reset),
      depth_(program_.loaded().num_stream_buffers() == kBuffers ? kStages : 1),
      times_(image->payload.program.branches.size()) {
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
  const auto first = std::ranges::find_if(
      under_way_, [](const Passage* passage) { return passage->state_ <= State::kComputes; });
  if (first != under_way_.end() && CanCompute(**first)) return {*first, State::kComputes};
  for (Passage* passage : under_way_) {
    if (passage->state_ == State::kCame && FreeInputs()) return {passage, State::kLoads};
  }
  return {};
}

bool BatchPipeline::CanCompute(const Passage& passage) const {
  if (passage.state_ != State::kLoaded || has_outputs_[passage.buffer_]) return false;
  return !program_.must_reset() || (loading_ == 0 && storing_ == 0);
}

std::optional<std::size_t> BatchPipeline::FreeInputs() const {
  for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
    if (!has_inputs_[buffer] && !has_outputs_[buffer]) return buffer;
  }
  for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
    if (!has_inputs_[buffer]) return buffer;
  }
  return std::nullopt;
}

void BatchPipeline::Begin(const Task& task) {
  Passage& passage = *task.passage;
  if (task.meanwhile == State::kLoads) {
    passage.buffer_ = *FreeInputs();
    has_inputs_[passage.buffer_] = true;
  } else if (task.meanwhile == State::kComputes) {
    has_outputs_[passage.buffer_] = true;
  }
  passage.state_ = task.meanwhile;
}

void BatchPipeline::Load(Lock& lock, Passage& passage) {
  if (program_.is_ready()) {  // else they would be lost: whoever resets the device loads then
    passage.generation_ = program_.generation();
    ++loading_;
    lock.unlock();
    {
      const Timed timed(passage.time_);
      program_.loaded().Load(passage.buffer_, passage.batch_.branch, passage.batch_.inputs);
    }
    lock.lock();
    --loading_;
  }
  passage.state_ = State::kLoaded;
}

void BatchPipeline::Compute(Lock& lock, Passage& passage) {
  const Batch& batch = passage.batch_;
  const DeviceFailure* problem = passage.failure_ ? nullptr : program_.Prepare();
  if (!passage.failure_ && problem == nullptr) {
    const bool is_loaded = passage.generation_ == program_.generation();
    lock.unlock();
    try {
      const Timed timed(passage.time_);
      if (!is_loaded) program_.loaded().Load(passage.buffer_, batch.branch, batch.inputs);
      program_.loaded().Compute(passage.buffer_, batch.branch, nullptr);
      lock.lock();
    } catch (...) {
      lock.lock();
      problem = &program_.Fail();
    }
  }
  if (problem != nullptr) passage.failure_.emplace().Keep(*problem);
  has_inputs_[passage.buffer_] = false;
  if (passage.failure_) {
    End(passage);
  } else {
    passage.state_ = State::kComputed;
  }
}

void BatchPipeline::Store(Lock& lock, Passage& passage) {
  const Batch& batch = passage.batch_;
  ++storing_;
  lock.unlock();
  {
    const Timed timed(passage.time_);
    program_.loaded().Store(passage.buffer_, batch.branch, batch.outputs, batch.extents);
  }
  lock.lock();
  --storing_;
  times_[batch.branch] = passage.time_;
  End(passage);
}

void BatchPipeline::End(Passage& passage) {
  has_outputs_[passage.buffer_] = false;
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
