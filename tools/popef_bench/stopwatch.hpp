#pragma once

#include <time.h>

#include <cstdint>

namespace poprt::bench {

/// What time is: that of the world, or that which the calling thread has had a processor for.
enum class Clock { kSteady, kThreadCpu };

/// Time since it was made, or since the last lap.
class Stopwatch {
 public:
  explicit Stopwatch(Clock clock = Clock::kSteady)
      : clock_(clock == Clock::kSteady ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID),
        start_(Now()) {}

  std::int64_t Nanoseconds() const { return Now() - start_; }

  /// Milliseconds since the last lap; starts the next.
  double Lap() {
    const std::int64_t now = Now();
    const auto lap = static_cast<double>(now - start_) / 1e6;
    start_ = now;
    return lap;
  }

 private:
  std::int64_t Now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }

  clockid_t clock_;
  std::int64_t start_;
};

}  // namespace poprt::bench
