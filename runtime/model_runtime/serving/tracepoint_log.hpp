#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "model_runtime/RequestTracepoint.hpp"

namespace model_runtime {

/// The last requests of a runner. Thread-safe.
class TracepointLog {
 public:
  /// `enabled`: otherwise nothing is recorded, at no cost. `capacity` 0: all requests since the
  /// beginning.
  TracepointLog(bool enabled, std::uint32_t capacity);

  /// A new request; returns its id.
  std::uint64_t Queued(unsigned replica);
  void Started(std::uint64_t id);
  void Finished(std::uint64_t id, bool success);

  /// In the order of their ids.
  std::vector<RequestTracepoint> Read() const;

 private:
  /// The request if it is still there; the caller holds the mutex.
  RequestTracepoint* Find(std::uint64_t id);

  const bool enabled_;
  const std::uint32_t capacity_;
  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 0;
  std::deque<RequestTracepoint> log_;
};

}  // namespace model_runtime
