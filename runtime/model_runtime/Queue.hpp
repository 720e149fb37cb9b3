#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model_runtime/RingBuffer.hpp"
#include "model_runtime/TensorStream.hpp"
#include "popef/Types.hpp"

namespace model_runtime {

class FlushPlaces;
struct QueueControl;

/// User memory from which the program takes one of its inputs, in the order in which it was queued.
/// Made by a QueueManager; when that is gone, the queue is disconnected. enqueue() is for one
/// thread at a time.
///
/// The queue holds pointers: an element's memory must stay valid until its callback is called or
/// destroyed. Memory is read where it lies, unless a tensor is spread over several elements.
class InputQueue final : public TensorSource {
 public:
  InputQueue(const popef::Anchor& anchor, std::shared_ptr<QueueControl> control);
  ~InputQueue() override;

  const popef::Anchor& anchor() const { return anchor_; }
  const popef::TensorInfo& tensorInfo() const { return anchor_.tensorInfo(); }

  /// Queues `size_bytes` of data: a tensor, several one behind the other, or a part, which takes
  /// whole rows along the first dimension and waits for the rest of the tensor. `callback` is
  /// called when the program has read all of it. Waits while the queue is full. Throws Error if the
  /// size does not fit and when the queue is disconnected.
  void enqueue(const void* data, std::uint64_t size_bytes, CompletionCallback callback = {});

  /// Elements the program has not finished. Any thread.
  std::size_t readAvailable() const { return ring_.readAvailable(); }
  std::size_t capacity() const { return ring_.capacity(); }

  /// For the program and the manager.
  const void* Next() override;
  void Consumed() override;
  void Failed() override;
  bool IsStandIn() const override { return stand_in_; }
  void ProgramOver() override;
  void Stop() override;
  void Start() override;
  /// The number of elements ever queued.
  std::uint64_t position() const { return ring_.writePosition(); }
  void AddFlush(std::uint64_t flush);
  /// Moves what is queued out. Not while a program runs.
  void Drain(std::vector<CompletionCallback>& callbacks);

 private:
  enum class Arrival { kElement, kFlush, kEnd };

  Arrival Await();
  bool HasArrived(Arrival& arrival);
  void Advance(std::uint64_t bytes);
  bool Assemble();

  const popef::Anchor anchor_;
  const std::uint64_t tensor_bytes_;
  const std::shared_ptr<QueueControl> control_;
  InputRingBuffer ring_;
  std::unique_ptr<FlushPlaces> flushes_;
  std::uint64_t offset_ = 0;           ///< bytes read of the oldest element
  std::vector<std::byte> assembled_;   ///< a tensor of several elements
  std::uint64_t assembled_bytes_ = 0;  ///< so far
  bool in_place_ = false;              ///< Next() gave memory of the oldest element
  bool stand_in_ = false;
};

/// User memory in which the program puts one of its outputs, in the order in which it was queued.
/// As InputQueue.
class OutputQueue final : public TensorSink {
 public:
  OutputQueue(const popef::Anchor& anchor, std::shared_ptr<QueueControl> control);
  ~OutputQueue() override;

  const popef::Anchor& anchor() const { return anchor_; }
  const popef::TensorInfo& tensorInfo() const { return anchor_.tensorInfo(); }

  /// Queues memory for a tensor, for several, or for some rows of one, as InputQueue::enqueue does.
  /// `callback` is called when it is filled. `shape`, if not null, gets the shape of the result
  /// just before; a result with an open axis takes the first bytes of a whole tensor, and cannot be
  /// spread. Memory that is queued later than the result is there is filled then.
  void enqueue(void* data, std::uint64_t size_bytes, CompletionCallback callback = {},
               std::vector<std::int64_t>* shape = nullptr);

  /// Elements the program has not finished. Any thread.
  std::size_t readAvailable() const { return ring_.readAvailable(); }
  std::size_t capacity() const { return ring_.capacity(); }

  /// For the program and the manager.
  void* Next() override;
  void Filled(std::optional<std::int64_t> extent) override;
  void Failed() override;
  bool IsStandIn() const override { return stand_in_; }
  bool IsPlaced() const override { return in_place_ || stand_in_; }
  void ProgramOver() override;
  void Stop() override;
  void Start() override;
  std::uint64_t position() const { return ring_.writePosition(); }
  void AddFlush(std::uint64_t flush);
  void Drain(std::vector<CompletionCallback>& callbacks);
  /// Which axis of the result is open, if one is.
  void SetOpenAxis(std::optional<std::size_t> axis) { open_axis_ = axis; }

 private:
  enum class Arrival { kElement, kFlush, kEnd };

  bool HasArrived(Arrival& arrival);
  std::uint64_t ResultBytes(std::optional<std::int64_t> extent) const;
  std::vector<std::int64_t> ShapeOf(const OutputElement& element,
                                    std::optional<std::int64_t> extent) const;
  void Advance(std::uint64_t bytes, std::optional<std::int64_t> extent);
  void Deliver(std::optional<std::int64_t> extent);

  const popef::Anchor anchor_;
  const std::uint64_t tensor_bytes_;
  const std::shared_ptr<QueueControl> control_;
  OutputRingBuffer ring_;
  std::unique_ptr<FlushPlaces> flushes_;
  std::optional<std::size_t> open_axis_;
  std::uint64_t offset_ = 0;       ///< bytes written of the oldest element
  std::vector<std::byte> parked_;  ///< a result for which there was no element, or several
  bool in_place_ = false;
  bool stand_in_ = false;
};

}  // namespace model_runtime
