#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "model_runtime/Queue.hpp"

namespace model_runtime {

struct QueueControl;

/// What to do when the program has waited too long for an element of this queue: see
/// Session::createQueueManager.
using TimeoutCallback = std::function<void(InputRingBuffer*)>;

/// The queues of a Session, which owns it. Session::createQueueManager makes it.
///
/// One user thread at a time may queue elements or flush, or users lock. Another runs the programs.
/// disconnectAll() is for any thread.
class QueueManager {
 public:
  ~QueueManager();
  QueueManager(const QueueManager&) = delete;
  QueueManager& operator=(const QueueManager&) = delete;

  /// The queue of an anchor. Names as in requests: those of graph i of a fused model start with the
  /// name of the graph or with "graph<i>". Throws Error that lists the queues.
  InputQueue& inputQueue(std::string_view name);
  OutputQueue& outputQueue(std::string_view name);
  /// In the order of the anchors.
  const std::vector<std::shared_ptr<InputQueue>>& inputQueues() const { return inputs_; }
  const std::vector<std::shared_ptr<OutputQueue>>& outputQueues() const { return outputs_; }

  /// Lets the program that waits, or else the next one, go on without elements that have not been
  /// queued by now: it reads zeros instead of missing tensors and missing rows, and results nobody
  /// wants are dropped. What is queued later waits for the program after it. A program that would
  /// compute nothing anyone has asked for does not run at all.
  void flushAll();

  /// For good: ends programs that wait, drops what is queued and refuses what comes. Callbacks of
  /// dropped elements are destroyed without being called; a program that computes finishes its
  /// elements before.
  void disconnectAll();

 private:
  friend class Session;

  /// How a user may call an anchor.
  using Canonical = std::function<std::string(std::string_view)>;

  QueueManager(std::size_t num_buffers, TimeoutCallback timeout_callback,
               std::chrono::nanoseconds timeout, Canonical canonical);
  std::shared_ptr<InputQueue> AddInput(const popef::Anchor& anchor);
  std::shared_ptr<OutputQueue> AddOutput(const popef::Anchor& anchor,
                                         std::optional<std::size_t> open_axis);
  bool NothingSince() const;
  void ProgramBegins();
  void ProgramEnds();
  void DropElements();
  std::vector<CompletionCallback> Drain();

  std::shared_ptr<QueueControl> control_;
  Canonical canonical_;
  std::vector<std::shared_ptr<InputQueue>> inputs_;
  std::vector<std::shared_ptr<OutputQueue>> outputs_;
  std::vector<std::uint64_t> flushed_positions_;  ///< of all queues at the last flush

  std::mutex programs_mutex_;
  int programs_ = 0;  ///< running or waiting
};

}  // namespace model_runtime
