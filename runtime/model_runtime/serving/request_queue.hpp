#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "model_runtime/serving/device_failure.hpp"
#include "model_runtime/serving/request_router.hpp"
#include "model_runtime/serving/spin_wait.hpp"

namespace model_runtime {

/// A request on its way through a queue.
struct Request {
  Route route;
  std::exception_ptr refusal;  ///< why it will not run
  std::function<void(std::exception_ptr)> done;
  std::optional<std::uint64_t> tracepoint;  ///< of a request that is not refused
  std::optional<DeviceFailure> failure;     ///< of its batches that have run, if they overlap
  Request* next = nullptr;                  ///< in the queue or in the pool
};

/// Requests in the order of their submission, and a pool of requests that are done, whose memory
/// the next ones use. Any thread may submit, one at a time takes. Thread-safe.
class RequestQueue {
 public:
  /// `capacity`: batches, at least 1.
  explicit RequestQueue(std::uint64_t capacity);

  /// A request of the pool, to be pushed or recycled.
  Request* NewRequest();
  void Recycle(Request* request);

  /// Waits until less than `capacity` batches are queued, or not at all if `at_once`. False, and
  /// nothing is queued, when the queue is closed.
  bool Push(Request* request, bool at_once);

  /// The next request; waits for it until `deadline`. Null when there is none by then, when Wake
  /// was called, or when the queue is closed. For one thread at a time.
  Request* Pop(std::chrono::steady_clock::time_point deadline);

  /// The next request if there is one.
  Request* TryPop();

  /// Lets the thread in Pop return, now or when it calls next.
  void Wake();

  /// No request comes in any more.
  void Close();
  bool closed() const { return closed_; }

  /// Nothing is queued, and what was taken is done.
  bool idle() const { return unfinished_ == 0; }
  /// A request that was taken is done.
  void Finished() { --unfinished_; }

 private:
  /// The caller holds the mutex.
  Request* TakeFirst();

  const std::uint64_t capacity_;
  std::atomic<std::uint64_t> unfinished_{0};
  std::atomic<std::uint64_t> queued_batches_{0};
  std::atomic<std::uint64_t> queued_{0};
  std::atomic<bool> woken_{false};
  std::atomic<bool> closed_{false};
  SpinWait arrival_;  ///< of the thread that takes
  SpinWait room_;     ///< of those that submit

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable has_room_;
  Request* first_ = nullptr;
  Request* last_ = nullptr;
  Request* pool_ = nullptr;
  std::vector<std::unique_ptr<Request>> all_;
};

}  // namespace model_runtime
