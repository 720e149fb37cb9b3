#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "model_runtime/RingBuffer.hpp"
#include "model_runtime/serving/spin_wait.hpp"

namespace model_runtime {

/// One side of the queues of a manager that waits for the other. Whoever may have made `ready` true
/// calls Notify() after that; when nobody waits that costs one atomic operation.
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  /// Until `ready` or the deadline, if there is one. Returns what `ready` does then.
  template <typename Ready>
  bool Wait(std::optional<Clock::time_point> deadline, const Ready& ready) {
    if (SpinUntil(kSpinTime, ready)) return true;
    std::unique_lock lock(mutex_);
    // Together with the one in Notify: of the two threads, one sees what the other has done before.
    waiters_.fetch_add(1, std::memory_order_acq_rel);
    bool result = true;
    if (deadline) {
      result = changed_.wait_until(lock, *deadline, ready);
    } else {
      changed_.wait(lock, ready);
    }
    waiters_.fetch_sub(1, std::memory_order_acq_rel);
    return result;
  }

  void Notify() {
    if (waiters_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> waiters_{0};
};

/// What the queues of a manager share.
///
/// A flush is a place in every queue: behind all elements that were there at that moment. A program
/// that comes to such a place takes stand-ins there; when it is over, so is the flush, also in
/// queues whose place it has not come to.
struct QueueControl {
  std::size_t capacity = 0;
  std::function<void(InputRingBuffer*)> timeout_callback;
  std::chrono::nanoseconds timeout{0};  ///< 0: none

  Waiting for_elements;  ///< the program for the user
  Waiting for_room;      ///< the user for the program
  std::atomic<bool> stopped{false};
  std::atomic<bool> disconnected{false};
  std::mutex manager_mutex;  ///< guards `drain`
  /// Moves what is queued out of disconnected queues, unless a program runs: it does so when it
  /// ends. Empty when the manager is gone; what is queued then goes with its queue.
  std::function<std::vector<CompletionCallback>()> drain;

  std::atomic<std::uint64_t> flushes{0};       ///< the number of the last one
  std::mutex flush_mutex;                      ///< guards the FlushPlaces
  std::atomic<std::uint64_t> flushes_done{0};  ///< written by the program's thread
  std::uint64_t flush_of_program = 0;          ///< of the program's thread

  bool Ended() const {
    return stopped.load(std::memory_order_acquire) || disconnected.load(std::memory_order_acquire);
  }

  void ProgramOver() {
    if (flush_of_program > flushes_done.load(std::memory_order_relaxed)) {
      flushes_done.store(flush_of_program, std::memory_order_release);
    }
  }
};

/// The flushes of one queue.
class FlushPlaces {
 public:
  /// The caller holds QueueControl::flush_mutex.
  void Add(const QueueControl& control, std::uint64_t flush, std::uint64_t position) {
    // Programs may never come to this queue.
    DropDone(control.flushes_done.load(std::memory_order_relaxed));
    places_.push_back({flush, position});
  }

  /// How many are not known to be over.
  std::size_t size() const { return places_.size(); }

  /// True if a stand-in comes before the element at `position`. For the program's thread, after it
  /// has looked for that element: then it knows of flushes that came before the element.
  bool Reached(QueueControl& control, std::uint64_t position) {
    const std::uint64_t done = control.flushes_done.load(std::memory_order_relaxed);
    if (control.flushes.load(std::memory_order_acquire) == done) return false;
    const std::lock_guard lock(control.flush_mutex);
    DropDone(done);
    if (places_.empty() || places_.front().position != position) return false;
    control.flush_of_program = std::max(control.flush_of_program, places_.front().flush);
    return true;
  }

 private:
  struct Place {
    std::uint64_t flush;
    std::uint64_t position;
  };

  void DropDone(std::uint64_t done) {
    while (!places_.empty() && places_.front().flush <= done) places_.pop_front();
  }

  std::deque<Place> places_;
};

}  // namespace model_runtime
