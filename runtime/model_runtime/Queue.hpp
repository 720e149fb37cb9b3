#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model_runtime/ElementQueue.hpp"

namespace model_runtime {

/// User memory from which the program takes one of its inputs, in the order in which it was queued.
/// Made by a QueueManager; when that is gone, the queue is disconnected. enqueue() is for one
/// thread at a time.
///
/// The queue holds pointers: an element's memory must stay valid until its callback is called or
/// destroyed. Memory is read where it lies, unless a tensor is spread over several elements.
class InputQueue final : public ElementQueue<TensorSource, InputElement> {
 public:
  using ElementQueue::ElementQueue;

  /// Queues `size_bytes` of data: a tensor, several one behind the other, or a part, which takes
  /// whole rows along the first dimension and waits for the rest of the tensor. `callback` is
  /// called when the program has read all of it. Waits while the queue is full. Throws Error if the
  /// size does not fit and when the queue is disconnected.
  void enqueue(const void* data, std::uint64_t size_bytes, CompletionCallback callback = {});

  /// For the program and the manager.
  const void* Next() override;
  void Consumed() override;
  void Failed() override;
  void Drain(std::vector<CompletionCallback>& callbacks) override;

 private:
  Arrival AwaitInput();
  bool Assemble();
  void Read(std::uint64_t bytes);

  std::vector<std::byte> assembled_;   ///< a tensor of several elements
  std::uint64_t assembled_bytes_ = 0;  ///< so far
};

/// User memory in which the program puts one of its outputs, in the order in which it was queued.
/// As InputQueue.
class OutputQueue final : public ElementQueue<TensorSink, OutputElement> {
 public:
  using ElementQueue::ElementQueue;

  /// Queues memory for a tensor, for several, or for some rows of one, as InputQueue::enqueue does.
  /// `callback` is called when it is filled. `shape`, if not null, gets the shape of the result
  /// just before; a result with an open axis takes the first bytes of a whole tensor, and cannot be
  /// spread. Memory that is queued later than the result is there is filled then.
  void enqueue(void* data, std::uint64_t size_bytes, CompletionCallback callback = {},
               std::vector<std::int64_t>* shape = nullptr);

  /// For the program and the manager.
  void* Next() override;
  void Filled(std::optional<std::int64_t> extent) override;
  void Failed() override;
  bool IsPlaced() const override { return in_place_ || stand_in_; }
  /// Which axis of the result is open, if one is.
  void SetOpenAxis(std::optional<std::size_t> axis) { open_axis_ = axis; }

 private:
  std::uint64_t ResultBytes(std::optional<std::int64_t> extent) const;
  std::vector<std::int64_t> ShapeOf(const OutputElement& element,
                                    std::optional<std::int64_t> extent) const;
  void Write(std::uint64_t bytes, std::optional<std::int64_t> extent);
  void Deliver(std::optional<std::int64_t> extent);

  std::optional<std::size_t> open_axis_;
  std::vector<std::byte> parked_;  ///< a result for which there was no element, or several
};

}  // namespace model_runtime
