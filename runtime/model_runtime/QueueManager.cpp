#include "model_runtime/QueueManager.hpp"

#include <utility>

#include "model_runtime/Errors.hpp"
#include "model_runtime/session/queue_control.hpp"

namespace model_runtime {
namespace {

template <typename Queue>
Queue& Find(const std::vector<std::shared_ptr<Queue>>& queues, const std::string& name,
            const std::string& kind) {
  for (const auto& queue : queues) {
    if (queue->anchor().name() == name) return *queue;
  }
  std::string message = "there is no " + kind + " queue '" + name + "', ";
  message += queues.empty() ? "there are none" : kind + " queues are:";
  for (const auto& queue : queues) message += " '" + queue->anchor().name() + "'";
  throw Error(message);
}

}  // namespace

QueueManager::QueueManager(std::size_t num_buffers, TimeoutCallback timeout_callback,
                           std::chrono::nanoseconds timeout, Canonical canonical)
    : control_(std::make_shared<QueueControl>()), canonical_(std::move(canonical)) {
  if (num_buffers == 0) throw Error("num_buffers is 0, queues need room for at least 1 element");
  control_->capacity = num_buffers;
  control_->timeout_callback = std::move(timeout_callback);
  control_->timeout = timeout;
  control_->drain = [this] { return Drain(); };
}

QueueManager::~QueueManager() {
  disconnectAll();
  const std::lock_guard lock(control_->manager_mutex);
  control_->drain = {};
}

std::shared_ptr<InputQueue> QueueManager::AddInput(const popef::Anchor& anchor) {
  return inputs_.emplace_back(std::make_shared<InputQueue>(anchor, control_));
}

std::shared_ptr<OutputQueue> QueueManager::AddOutput(const popef::Anchor& anchor,
                                                     std::optional<std::size_t> open_axis) {
  const auto& queue = outputs_.emplace_back(std::make_shared<OutputQueue>(anchor, control_));
  queue->SetOpenAxis(open_axis);
  return queue;
}

InputQueue& QueueManager::inputQueue(std::string_view name) {
  return Find(inputs_, canonical_(name), "input");
}

OutputQueue& QueueManager::outputQueue(std::string_view name) {
  return Find(outputs_, canonical_(name), "output");
}

bool QueueManager::NothingSince() const {
  if (control_->flushes.load(std::memory_order_acquire) ==
          control_->flushes_done.load(std::memory_order_acquire) ||
      flushed_positions_.empty()) {
    return false;
  }
  std::size_t i = 0;
  for (const auto& queue : inputs_) {
    if (queue->position() != flushed_positions_[i++]) return false;
  }
  for (const auto& queue : outputs_) {
    if (queue->position() != flushed_positions_[i++]) return false;
  }
  return true;
}

void QueueManager::flushAll() {
  {
    const std::lock_guard lock(control_->flush_mutex);
    if (NothingSince()) return;
    const std::uint64_t flush = control_->flushes.load(std::memory_order_relaxed) + 1;
    flushed_positions_.clear();
    for (const auto& queue : inputs_) {
      queue->AddFlush(flush);
      flushed_positions_.push_back(queue->position());
    }
    for (const auto& queue : outputs_) {
      queue->AddFlush(flush);
      flushed_positions_.push_back(queue->position());
    }
    control_->flushes.store(flush, std::memory_order_release);
  }
  control_->for_elements.Notify();
}

void QueueManager::disconnectAll() {
  control_->disconnected.store(true, std::memory_order_release);
  control_->for_elements.Notify();
  control_->for_room.Notify();
  DropElements();
}

void QueueManager::ProgramBegins() {
  const std::lock_guard lock(programs_mutex_);
  ++programs_;
}

void QueueManager::ProgramEnds() {
  {
    const std::lock_guard lock(programs_mutex_);
    --programs_;
  }
  if (control_->disconnected.load(std::memory_order_acquire)) DropElements();
}

void QueueManager::DropElements() {
  // Destroyed without the lock: they are the user's.
  const std::vector<CompletionCallback> callbacks = Drain();
}

std::vector<CompletionCallback> QueueManager::Drain() {
  std::vector<CompletionCallback> callbacks;
  const std::lock_guard lock(programs_mutex_);
  if (programs_ > 0) return callbacks;
  for (const auto& queue : inputs_) queue->Drain(callbacks);
  for (const auto& queue : outputs_) queue->Drain(callbacks);
  return callbacks;
}

}  // namespace model_runtime
