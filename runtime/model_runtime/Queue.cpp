#include "model_runtime/Queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "model_runtime/Errors.hpp"
#include "model_runtime/session/queue_control.hpp"

namespace model_runtime {
namespace {

/// How long a result waits for user memory before it is computed into memory of the queue.
constexpr std::chrono::milliseconds kPatience{1};

std::uint64_t TensorBytes(const popef::Anchor& anchor) {
  return static_cast<std::uint64_t>(anchor.tensorInfo().sizeInBytes());
}

void CheckSize(const popef::Anchor& anchor, bool parts_allowed, const void* data,
               std::uint64_t size) {
  const std::uint64_t tensor = TensorBytes(anchor);
  const std::string name = "queue of '" + anchor.name() + "': ";
  if (data == nullptr && size > 0) throw Error(name + "the memory is a null pointer");
  if (tensor == 0) {
    if (size != 0)
      throw Error(name + "the memory has " + std::to_string(size) + " bytes, allowed is 0");
    return;
  }
  const auto& shape = anchor.tensorInfo().shape();
  const std::uint64_t row =
      shape.empty() || !parts_allowed ? tensor : tensor / static_cast<std::uint64_t>(shape[0]);
  if (size > 0 && (size % tensor == 0 || (size < tensor && size % row == 0))) return;
  std::string allowed = std::to_string(tensor) + " or a multiple";
  if (row < tensor) allowed += ", and for parts of a tensor multiples of " + std::to_string(row);
  throw Error(name + "the memory has " + std::to_string(size) + " bytes, allowed are " + allowed);
}

/// Waits for room. Throws Error when the queue is disconnected.
template <typename Element>
void Push(const popef::Anchor& anchor, QueueControl& control, RingBuffer<Element>& ring,
          Element element) {
  const auto check = [&] {
    if (control.disconnected.load(std::memory_order_acquire)) {
      throw Error("queue of '" + anchor.name() + "': disconnected, nothing can be queued any more");
    }
  };
  check();
  const auto has_room = [&] { return ring.writeAvailable() > 0; };
  while (!has_room()) {
    control.for_room.Wait(std::nullopt, [&] {
      return has_room() || control.disconnected.load(std::memory_order_acquire);
    });
    check();
  }
  ring.push(std::move(element));
  control.for_elements.Notify();
  // Disconnected since: nobody else would ever drop this element.
  if (!control.disconnected.load(std::memory_order_acquire)) return;
  // Destroyed without the lock: they are the user's.
  std::vector<CompletionCallback> callbacks;
  const std::lock_guard lock(control.manager_mutex);
  if (control.drain) callbacks = control.drain();
}

template <typename Element>
void Empty(RingBuffer<Element>& ring, std::vector<CompletionCallback>& callbacks) {
  Element element;
  while (ring.pop(element)) callbacks.push_back(std::move(element.callback));
}

}  // namespace

InputQueue::InputQueue(const popef::Anchor& anchor, std::shared_ptr<QueueControl> control)
    : anchor_(anchor),
      tensor_bytes_(TensorBytes(anchor)),
      control_(std::move(control)),
      ring_(control_->capacity),
      flushes_(std::make_unique<FlushPlaces>()) {}

InputQueue::~InputQueue() = default;

void InputQueue::enqueue(const void* data, std::uint64_t size_bytes, CompletionCallback callback) {
  CheckSize(anchor_, true, data, size_bytes);
  Push(anchor_, *control_, ring_, InputElement{data, size_bytes, std::move(callback)});
}

bool InputQueue::HasArrived(Arrival& arrival) {
  const bool element = ring_.front() != nullptr;
  if (control_->Ended()) {
    arrival = Arrival::kEnd;
  } else if (flushes_->Reached(*control_, ring_.readPosition())) {
    arrival = Arrival::kFlush;
  } else if (element) {
    arrival = Arrival::kElement;
  } else {
    return false;
  }
  return true;
}

InputQueue::Arrival InputQueue::Await() {
  Arrival arrival = Arrival::kEnd;
  const auto arrived = [&] { return HasArrived(arrival); };
  while (!arrived()) {
    std::optional<Waiting::Clock::time_point> deadline;
    if (control_->timeout_callback && control_->timeout.count() > 0) {
      // A longer wait than this would overflow the clock.
      constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
      deadline = Waiting::Clock::now() + std::min(control_->timeout, kLongest);
    }
    if (control_->for_elements.Wait(deadline, arrived)) break;
    control_->timeout_callback(&ring_);
  }
  return arrival;
}

const void* InputQueue::Next() {
  stand_in_ = false;
  in_place_ = false;
  if (assembled_bytes_ == 0) {
    const Arrival arrival = Await();
    if (arrival == Arrival::kEnd) return nullptr;
    stand_in_ = arrival == Arrival::kFlush;
    if (!stand_in_) {
      const InputElement& oldest = *ring_.front();
      in_place_ = oldest.size - offset_ >= tensor_bytes_;
      // No tensor is at null, also none without bytes.
      if (in_place_ && oldest.data == nullptr) return this;
      if (in_place_) return static_cast<const std::byte*>(oldest.data) + offset_;
    }
  }
  assembled_.resize(std::max<std::uint64_t>(tensor_bytes_, 1));
  return Assemble() ? assembled_.data() : nullptr;
}

bool InputQueue::Assemble() {
  while (assembled_bytes_ < tensor_bytes_) {
    switch (Await()) {
      case Arrival::kEnd:
        return false;
      case Arrival::kFlush:
        std::fill(assembled_.begin() + static_cast<std::ptrdiff_t>(assembled_bytes_),
                  assembled_.end(), std::byte{0});
        return true;
      case Arrival::kElement:
        break;
    }
    const InputElement& oldest = *ring_.front();
    const std::uint64_t bytes = std::min(oldest.size - offset_, tensor_bytes_ - assembled_bytes_);
    std::memcpy(assembled_.data() + assembled_bytes_,
                static_cast<const std::byte*>(oldest.data) + offset_, bytes);
    assembled_bytes_ += bytes;
    Advance(bytes);
  }
  return true;
}

void InputQueue::Advance(std::uint64_t bytes) {
  offset_ += bytes;
  if (offset_ < ring_.front()->size) return;
  offset_ = 0;
  InputElement element;
  ring_.pop(element);
  control_->for_room.Notify();
  if (element.callback) element.callback();
}

void InputQueue::Consumed() {
  assembled_bytes_ = 0;
  if (!std::exchange(in_place_, false)) return;
  Advance(tensor_bytes_);
}

void InputQueue::Failed() {
  assembled_bytes_ = 0;
  if (!std::exchange(in_place_, false)) return;
  ring_.front()->callback = {};
  Advance(tensor_bytes_);
}

void InputQueue::ProgramOver() { control_->ProgramOver(); }

void InputQueue::Stop() {
  control_->stopped.store(true, std::memory_order_release);
  control_->for_elements.Notify();
}

void InputQueue::Start() { control_->stopped.store(false, std::memory_order_release); }

void InputQueue::AddFlush(std::uint64_t flush) {
  flushes_->Add(*control_, flush, ring_.writePosition());
}

void InputQueue::Drain(std::vector<CompletionCallback>& callbacks) {
  Empty(ring_, callbacks);
  offset_ = 0;
  assembled_bytes_ = 0;
  control_->for_room.Notify();
}

OutputQueue::OutputQueue(const popef::Anchor& anchor, std::shared_ptr<QueueControl> control)
    : anchor_(anchor),
      tensor_bytes_(TensorBytes(anchor)),
      control_(std::move(control)),
      ring_(control_->capacity),
      flushes_(std::make_unique<FlushPlaces>()) {}

OutputQueue::~OutputQueue() = default;

void OutputQueue::enqueue(void* data, std::uint64_t size_bytes, CompletionCallback callback,
                          std::vector<std::int64_t>* shape) {
  CheckSize(anchor_, !open_axis_.has_value(), data, size_bytes);
  Push(anchor_, *control_, ring_, OutputElement{data, size_bytes, std::move(callback), shape});
}

bool OutputQueue::HasArrived(Arrival& arrival) {
  const bool element = ring_.front() != nullptr;
  if (control_->Ended()) {
    arrival = Arrival::kEnd;
  } else if (flushes_->Reached(*control_, ring_.readPosition())) {
    arrival = Arrival::kFlush;
  } else if (element) {
    arrival = Arrival::kElement;
  } else {
    return false;
  }
  return true;
}

void* OutputQueue::Next() {
  stand_in_ = false;
  in_place_ = false;
  Arrival arrival = Arrival::kEnd;
  const auto arrived = [&] { return HasArrived(arrival); };
  if (arrived() || control_->for_elements.Wait(Waiting::Clock::now() + kPatience, arrived)) {
    stand_in_ = arrival == Arrival::kFlush;
    if (arrival != Arrival::kElement) return nullptr;
    const OutputElement& oldest = *ring_.front();
    in_place_ = oldest.size - offset_ >= tensor_bytes_;
    if (in_place_) return static_cast<std::byte*>(oldest.data) + offset_;
  }
  parked_.resize(std::max<std::uint64_t>(tensor_bytes_, 1));
  return parked_.data();
}

void OutputQueue::Filled(std::optional<std::int64_t> extent) {
  if (std::exchange(in_place_, false)) {
    Advance(tensor_bytes_, extent);
  } else if (!stand_in_ && !control_->Ended()) {
    Deliver(extent);
  }
}

std::uint64_t OutputQueue::ResultBytes(std::optional<std::int64_t> extent) const {
  if (!open_axis_ || !extent || tensor_bytes_ == 0) return tensor_bytes_;
  const auto bound = static_cast<std::uint64_t>(tensorInfo().shape()[*open_axis_]);
  return tensor_bytes_ / bound * static_cast<std::uint64_t>(*extent);
}

void OutputQueue::Deliver(std::optional<std::int64_t> extent) {
  const std::uint64_t result_bytes = ResultBytes(extent);
  std::uint64_t delivered = 0;
  do {
    Arrival arrival = Arrival::kEnd;
    const auto arrived = [&] { return HasArrived(arrival); };
    if (!arrived()) control_->for_elements.Wait(std::nullopt, arrived);
    if (arrival != Arrival::kElement) return;
    const OutputElement& oldest = *ring_.front();
    const std::uint64_t bytes = std::min(oldest.size - offset_, tensor_bytes_ - delivered);
    if (delivered < result_bytes) {
      std::memcpy(static_cast<std::byte*>(oldest.data) + offset_, parked_.data() + delivered,
                  std::min(bytes, result_bytes - delivered));
    }
    delivered += bytes;
    Advance(bytes, extent);
  } while (delivered < tensor_bytes_);
}

std::vector<std::int64_t> OutputQueue::ShapeOf(const OutputElement& element,
                                               std::optional<std::int64_t> extent) const {
  std::vector<std::int64_t> shape = tensorInfo().shape();
  if (open_axis_ && extent) {
    shape[*open_axis_] = *extent;
  } else if (!shape.empty() && tensor_bytes_ > 0) {
    const std::uint64_t row = tensor_bytes_ / static_cast<std::uint64_t>(shape[0]);
    shape[0] = static_cast<std::int64_t>(element.size / row);
  }
  return shape;
}

void OutputQueue::Advance(std::uint64_t bytes, std::optional<std::int64_t> extent) {
  offset_ += bytes;
  if (offset_ < ring_.front()->size) return;
  offset_ = 0;
  OutputElement element;
  ring_.pop(element);
  control_->for_room.Notify();
  if (element.shape != nullptr) *element.shape = ShapeOf(element, extent);
  if (element.callback) element.callback();
}

void OutputQueue::Failed() {
  if (!std::exchange(in_place_, false)) return;
  ring_.front()->callback = {};
  ring_.front()->shape = nullptr;
  Advance(tensor_bytes_, std::nullopt);
}

void OutputQueue::ProgramOver() { control_->ProgramOver(); }

void OutputQueue::Stop() {
  control_->stopped.store(true, std::memory_order_release);
  control_->for_elements.Notify();
}

void OutputQueue::Start() { control_->stopped.store(false, std::memory_order_release); }

void OutputQueue::AddFlush(std::uint64_t flush) {
  flushes_->Add(*control_, flush, ring_.writePosition());
}

void OutputQueue::Drain(std::vector<CompletionCallback>& callbacks) {
  Empty(ring_, callbacks);
  offset_ = 0;
  control_->for_room.Notify();
}

}  // namespace model_runtime
