#include "model_runtime/serving/tracepoint_log.hpp"

namespace model_runtime {

using Clock = std::chrono::steady_clock;

TracepointLog::TracepointLog(bool enabled, std::uint32_t capacity)
    : enabled_(enabled), capacity_(capacity) {}

std::uint64_t TracepointLog::Queued(unsigned replica) {
  if (!enabled_) return 0;
  const std::lock_guard lock(mutex_);
  if (capacity_ != 0 && log_.size() == capacity_) log_.pop_front();
  RequestTracepoint& request = log_.emplace_back();
  request.id = next_id_++;
  request.replica_id = replica;
  request.queued = Clock::now();
  return request.id;
}

RequestTracepoint* TracepointLog::Find(std::uint64_t id) {
  if (log_.empty() || id < log_.front().id) return nullptr;
  return &log_[static_cast<std::size_t>(id - log_.front().id)];
}

void TracepointLog::Started(std::uint64_t id) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  RequestTracepoint* request = Find(id);
  if (request == nullptr) return;
  request->state = RequestState::Running;
  request->started = Clock::now();
}

void TracepointLog::Finished(std::uint64_t id, bool success) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  RequestTracepoint* request = Find(id);
  if (request == nullptr) return;
  request->state = success ? RequestState::Succeeded : RequestState::Failed;
  request->finished = Clock::now();
}

std::vector<RequestTracepoint> TracepointLog::Read() const {
  const std::lock_guard lock(mutex_);
  return {log_.begin(), log_.end()};
}

}  // namespace model_runtime
