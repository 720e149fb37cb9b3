#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace model_runtime {

/// Lets what is done side by side end in the order in which it was begun. Thread-safe.
class FinishOrder {
 public:
  /// Waits until `number` others have ended.
  void Await(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return num_ended_ == number; });
  }
  /// The one whose number it was has ended.
  void Next() {
    const std::lock_guard lock(mutex_);
    ++num_ended_;
    ended_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t num_ended_ = 0;
};

}  // namespace model_runtime
