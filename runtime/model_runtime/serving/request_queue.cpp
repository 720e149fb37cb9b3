#include "model_runtime/serving/request_queue.hpp"

#include <utility>

namespace model_runtime {

using Clock = std::chrono::steady_clock;

RequestQueue::RequestQueue(std::uint64_t capacity) : capacity_(capacity) {}

Request* RequestQueue::NewRequest() {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr) {
    return all_.emplace_back(std::make_unique<Request>()).get();
  }
  return std::exchange(pool_, pool_->next);
}

void RequestQueue::Recycle(Request* request) {
  request->refusal = nullptr;
  request->done = nullptr;
  request->failure.reset();
  const std::lock_guard lock(mutex_);
  request->next = pool_;
  pool_ = request;
}

bool RequestQueue::Push(Request* request, bool at_once) {
  const auto may_push = [&] { return at_once || closed_ || queued_batches_ < capacity_; };
  room_.Wait(may_push, [&] {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, may_push);
  });
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, may_push);  // others may have been faster
    if (closed_) return false;
    request->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = request;
    last_ = request;
    queued_batches_ += request->route.batches;
    ++unfinished_;
    ++queued_;
  }
  arrived_.notify_one();
  return true;
}

Request* RequestQueue::TakeFirst() {
  Request* request = first_;
  if (request == nullptr) return nullptr;
  first_ = request->next;
  queued_batches_ -= request->route.batches;
  --queued_;
  return request;
}

Request* RequestQueue::TryPop() {
  Request* request = nullptr;
  {
    const std::lock_guard lock(mutex_);
    request = TakeFirst();
  }
  // All of them: one alone might take the room of a batch when more than one has become free.
  if (request != nullptr) has_room_.notify_all();
  return request;
}

Request* RequestQueue::Pop(Clock::time_point deadline) {
  const auto ready = [&] { return queued_ > 0 || woken_ || closed_; };
  arrival_.Wait(ready, [&] {
    std::unique_lock lock(mutex_);
    if (deadline == Clock::time_point::max()) {
      arrived_.wait(lock, ready);
    } else {
      arrived_.wait_until(lock, deadline, ready);
    }
  });
  woken_ = false;
  return closed_ ? nullptr : TryPop();
}

void RequestQueue::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  arrived_.notify_one();
}

void RequestQueue::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_one();
  has_room_.notify_all();
}

}  // namespace model_runtime
