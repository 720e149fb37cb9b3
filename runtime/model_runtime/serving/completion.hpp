#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "model_runtime/serving/spin_wait.hpp"

namespace model_runtime {

/// The end of one queued request, for the thread that waits for it.
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

}  // namespace model_runtime
