#include "tools/requests/measurement.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

namespace poprt::requests {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Each thread has requests of its own: all of them divided by the threads.
std::vector<double> RunOnThreads(runtime::BaseRunner& runner, std::span<const Request> requests,
                                 int per_thread, int threads) {
  std::vector<double> latencies(static_cast<std::size_t>(per_thread) * threads);
  const std::size_t own = requests.size() / threads;
  std::atomic<bool> failed = false;
  std::exception_ptr first_error;
  std::mutex error_mutex;
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      try {
        for (int i = 0; i < per_thread && !failed; ++i) {
          const Request& request = requests[thread * own + i % own];
          const auto start = Clock::now();
          runner.execute(request.inputs, request.outputs);
          latencies[static_cast<std::size_t>(thread) * per_thread + i] = MillisecondsSince(start);
        }
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!failed.exchange(true)) first_error = std::current_exception();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  if (first_error) std::rethrow_exception(first_error);
  return latencies;
}

}  // namespace

double Measurement::Average() const {
  return std::accumulate(latencies.begin(), latencies.end(), 0.0) /
         static_cast<double>(latencies.size());
}

double Measurement::Percentile(double percent) const {
  const auto count = static_cast<double>(latencies.size());
  const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * count));
  return latencies[std::clamp<std::size_t>(rank, 1, latencies.size()) - 1];
}

Measurement Measure(runtime::BaseRunner& runner, std::span<const Request> requests, int iterations,
                    int threads) {
  const int per_thread = (iterations + threads - 1) / threads;
  RunOnThreads(runner, requests, std::min(per_thread, 3), threads);
  Measurement measurement;
  const auto start = Clock::now();
  measurement.latencies = RunOnThreads(runner, requests, per_thread, threads);
  measurement.total = MillisecondsSince(start);
  std::sort(measurement.latencies.begin(), measurement.latencies.end());
  return measurement;
}

}  // namespace poprt::requests
