#include "model_runtime/Queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "model_runtime/session/queue_control.hpp"

namespace model_runtime {
namespace {

/// How long a result waits for user memory before it is computed into memory of the queue.
constexpr std::chrono::milliseconds kPatience{1};

}  // namespace

void InputQueue::enqueue(const void* data, std::uint64_t size_bytes, CompletionCallback callback) {
  Push({data, size_bytes, std::move(callback)}, true);
}

InputQueue::Arrival InputQueue::AwaitInput() {
  std::optional<std::chrono::nanoseconds> patience;
  if (control_->timeout_callback && control_->timeout.count() > 0) {
    // A longer wait than this would overflow the clock.
    constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
    patience = std::min(control_->timeout, kLongest);
  }
  while (true) {
    if (const auto arrival = Await(patience)) return *arrival;
    control_->timeout_callback(&ring_);
  }
}

const void* InputQueue::Next() {
  stand_in_ = false;
  in_place_ = false;
  if (assembled_bytes_ == 0) {
    const Arrival arrival = AwaitInput();
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
    switch (AwaitInput()) {
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
    Read(bytes);
  }
  return true;
}

void InputQueue::Read(std::uint64_t bytes) {
  const auto element = Advance(bytes);
  if (element && element->callback) element->callback();
}

void InputQueue::Consumed() {
  assembled_bytes_ = 0;
  if (std::exchange(in_place_, false)) Read(tensor_bytes_);
}

void InputQueue::Failed() {
  if (in_place_) ring_.front()->callback = {};
  Consumed();
}

void InputQueue::Drain(std::vector<CompletionCallback>& callbacks) {
  ElementQueue::Drain(callbacks);
  assembled_bytes_ = 0;
}

void OutputQueue::enqueue(void* data, std::uint64_t size_bytes, CompletionCallback callback,
                          std::vector<std::int64_t>* shape) {
  Push({data, size_bytes, std::move(callback), shape}, !open_axis_.has_value());
}

void* OutputQueue::Next() {
  stand_in_ = false;
  in_place_ = false;
  if (const auto arrival = Await(kPatience)) {
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
    Write(tensor_bytes_, extent);
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
    if (Await(std::nullopt) != Arrival::kElement) return;
    const OutputElement& oldest = *ring_.front();
    const std::uint64_t bytes = std::min(oldest.size - offset_, tensor_bytes_ - delivered);
    if (delivered < result_bytes) {
      std::memcpy(static_cast<std::byte*>(oldest.data) + offset_, parked_.data() + delivered,
                  std::min(bytes, result_bytes - delivered));
    }
    delivered += bytes;
    Write(bytes, extent);
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

void OutputQueue::Write(std::uint64_t bytes, std::optional<std::int64_t> extent) {
  const auto element = Advance(bytes);
  if (!element) return;
  if (element->shape != nullptr) *element->shape = ShapeOf(*element, extent);
  if (element->callback) element->callback();
}

void OutputQueue::Failed() {
  if (!std::exchange(in_place_, false)) return;
  ring_.front()->callback = {};
  ring_.front()->shape = nullptr;
  Advance(tensor_bytes_);
}

}  // namespace model_runtime
