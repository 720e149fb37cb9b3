#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace model_runtime {

/// Called once when the program is done with an element: it has read an input, or filled an output.
/// Runs on the thread that runs the program and must not throw. A callback that is destroyed
/// without having been called belongs to an element that was dropped.
using CompletionCallback = std::function<void()>;

/// User memory that waits to be read by the program.
struct InputElement {
  const void* data = nullptr;
  std::uint64_t size = 0;  ///< bytes
  CompletionCallback callback = {};
};

/// User memory that waits to be written by the program.
struct OutputElement {
  void* data = nullptr;
  std::uint64_t size = 0;  ///< bytes
  CompletionCallback callback = {};
  /// If not null, gets the shape of the result before the callback is called.
  std::vector<std::int64_t>* shape = nullptr;
};

/// A first-in first-out queue of fixed capacity between one thread that pushes and one that pops.
/// Holds pointers and metadata, never tensor data. No operation locks, waits or allocates; each
/// costs the same whatever the queue holds.
///
/// "Producer" functions are for one thread at a time, "consumer" functions for one other.
template <typename Element>
class RingBuffer {
 public:
  /// Throws std::invalid_argument if the capacity is 0.
  explicit RingBuffer(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) throw std::invalid_argument("a ring buffer needs a capacity of at least 1");
    std::size_t slots = 1;  // a power of two
    while (slots < capacity) slots *= 2;
    slots_.resize(slots);
  }
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;

  std::size_t capacity() const { return capacity_; }

  /// Elements ready to be popped. Any thread; exact for the consumer.
  std::size_t readAvailable() const {
    const std::uint64_t head = consumer_.index.load(std::memory_order_acquire);
    return static_cast<std::size_t>(producer_.index.load(std::memory_order_acquire) - head);
  }

  /// Elements that can be pushed. Any thread; exact for the producer.
  std::size_t writeAvailable() const {
    const std::uint64_t tail = producer_.index.load(std::memory_order_acquire);
    const std::uint64_t head = consumer_.index.load(std::memory_order_acquire);
    return head > tail ? capacity_ : capacity_ - static_cast<std::size_t>(tail - head);
  }

  /// Producer: appends, or returns false and leaves `element` alone if there is no room.
  bool push(Element&& element) {
    const std::uint64_t tail = producer_.index.load(std::memory_order_relaxed);
    if (tail - producer_.other >= capacity_) {
      producer_.other = consumer_.index.load(std::memory_order_acquire);
      if (tail - producer_.other >= capacity_) return false;
    }
    At(tail) = std::move(element);
    producer_.index.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Consumer: the oldest element, which stays where it is; null if there is none.
  Element* front() {
    const std::uint64_t head = consumer_.index.load(std::memory_order_relaxed);
    if (consumer_.other == head) {
      consumer_.other = producer_.index.load(std::memory_order_acquire);
      if (consumer_.other == head) return nullptr;
    }
    return &At(head);
  }

  /// Consumer: moves the oldest element out, or returns false if there is none.
  bool pop(Element& element) {
    Element* const oldest = front();
    if (oldest == nullptr) return false;
    element = std::move(*oldest);
    *oldest = Element();
    consumer_.index.store(consumer_.index.load(std::memory_order_relaxed) + 1,
                          std::memory_order_release);
    return true;
  }

  /// Elements ever popped (exact for the consumer) and pushed (exact for the producer).
  std::uint64_t readPosition() const { return consumer_.index.load(std::memory_order_relaxed); }
  std::uint64_t writePosition() const { return producer_.index.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kCacheLine = 64;

  /// What one side writes, and its last look at the other side's index: a side reads the other's
  /// cache line only when that no longer suffices.
  struct alignas(kCacheLine) Side {
    std::atomic<std::uint64_t> index{0};
    std::uint64_t other = 0;
  };

  Element& At(std::uint64_t index) { return slots_[index & (slots_.size() - 1)]; }

  const std::size_t capacity_;
  std::vector<Element> slots_;
  Side producer_;
  Side consumer_;
};

using InputRingBuffer = RingBuffer<InputElement>;
using OutputRingBuffer = RingBuffer<OutputElement>;

}  // namespace model_runtime
