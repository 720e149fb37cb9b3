#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model_runtime/RingBuffer.hpp"
#include "model_runtime/TensorStream.hpp"
#include "popef/Types.hpp"

namespace model_runtime {

class FlushPlaces;
struct QueueControl;

/// User memory that waits for the program, in the order in which it was queued: what InputQueue and
/// OutputQueue have in common.
template <typename Stream, typename Element>
class ElementQueue : public Stream {
 public:
  ElementQueue(const popef::Anchor& anchor, std::shared_ptr<QueueControl> control);
  ~ElementQueue() override;

  const popef::Anchor& anchor() const { return anchor_; }
  const popef::TensorInfo& tensorInfo() const { return anchor_.tensorInfo(); }

  /// Elements the program has not finished. Any thread.
  std::size_t readAvailable() const { return ring_.readAvailable(); }
  std::size_t capacity() const { return ring_.capacity(); }

  /// For the program and the manager.
  bool IsStandIn() const final { return stand_in_; }
  void ProgramOver() final;
  void Stop() final;
  void Start() final;
  /// The number of elements ever queued.
  std::uint64_t position() const { return ring_.writePosition(); }
  void AddFlush(std::uint64_t flush);
  /// Moves what is queued out. Not while a program runs.
  virtual void Drain(std::vector<CompletionCallback>& callbacks);

 protected:
  enum class Arrival { kElement, kFlush, kEnd };

  /// Waits for room. Throws Error when the queue is disconnected and if the element's size does not
  /// fit: whole tensors do, and rows of one if `parts_allowed`.
  void Push(Element element, bool parts_allowed);
  /// What the program comes to next, which stays where it is. Waits for it, for `patience` at most
  /// if given; null if nothing came.
  std::optional<Arrival> Await(std::optional<std::chrono::nanoseconds> patience);
  /// The program is done with so many bytes more of the oldest element. Moves the element out if
  /// these were the last.
  std::optional<Element> Advance(std::uint64_t bytes);

  const popef::Anchor anchor_;
  const std::uint64_t tensor_bytes_;
  const std::shared_ptr<QueueControl> control_;
  RingBuffer<Element> ring_;
  std::uint64_t offset_ = 0;  ///< bytes of the oldest element that the program is done with
  bool in_place_ = false;     ///< Next() gave memory of the oldest element
  bool stand_in_ = false;

 private:
  std::optional<Arrival> Arrived();

  std::unique_ptr<FlushPlaces> flushes_;
};

extern template class ElementQueue<TensorSource, InputElement>;
extern template class ElementQueue<TensorSink, OutputElement>;

}  // namespace model_runtime
