#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/kernels/pause.hpp"

namespace model_runtime {

/// How long a thread looks for what it waits for, with the processor busy, before it sleeps: waking
/// it would take longer than running a small model.
inline constexpr std::chrono::nanoseconds kSpinTime = std::chrono::microseconds(30);

/// True if `ready` becomes true within `time`. Never gives the processor away: on a machine that
/// has too few, whoever yields gets it back much later than whoever sleeps and is woken.
template <typename Ready>
bool SpinUntil(std::chrono::nanoseconds time, Ready ready) {
  if (ready()) return true;
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (alone || time <= std::chrono::nanoseconds(0)) return false;
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      poprt::kernels::Pause();
    }
  } while (std::chrono::steady_clock::now() - start < time);
  return ready();
}

/// Spins before it sleeps while that pays. It does not when waits are long, nor when others want
/// the processors, so that nobody gets on with what is waited for. Thread-safe.
class SpinWait {
 public:
  /// Spins, then calls `sleep`, which returns when `ready` is true or it has had enough.
  template <typename Ready, typename Sleep>
  void Wait(Ready ready, Sleep sleep) {
    if (ready()) return;
    const auto start = std::chrono::steady_clock::now();
    const int misses = misses_.load(std::memory_order_relaxed);
    if (misses >= kMostMisses || !SpinUntil(kSpinTime, ready)) sleep();
    if (std::chrono::steady_clock::now() - start <= kSpinTime) {
      misses_.store(0, std::memory_order_relaxed);
    } else if (misses < kMostMisses) {
      misses_.store(misses + 1, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr int kMostMisses = 4;

  std::atomic<int> misses_{0};  ///< waits in a row that took longer than kSpinTime
};

}  // namespace model_runtime
