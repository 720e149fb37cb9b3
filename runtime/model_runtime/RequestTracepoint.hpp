#pragma once

#include <chrono>
#include <cstdint>

namespace model_runtime {

enum class RequestState { Queued, Running, Succeeded, Failed };

/// What has become of a request. Times that have not come yet are zero.
struct RequestTracepoint {
  std::uint64_t id = 0;  ///< counts the requests of a runner from 0
  unsigned replica_id = 0;
  RequestState state = RequestState::Queued;
  std::chrono::steady_clock::time_point queued;
  /// When it came to the front of the queue. With batching_dim its rows may wait after that.
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point finished;
};

}  // namespace model_runtime
