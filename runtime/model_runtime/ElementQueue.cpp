#include "model_runtime/ElementQueue.hpp"

#include <mutex>
#include <string>
#include <utility>

#include "model_runtime/Errors.hpp"
#include "model_runtime/session/queue_control.hpp"

namespace model_runtime {
namespace {

void CheckSize(const popef::Anchor& anchor, bool parts_allowed, const void* data,
               std::uint64_t size) {
  const auto tensor = static_cast<std::uint64_t>(anchor.tensorInfo().sizeInBytes());
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

}  // namespace

template <typename Stream, typename Element>
ElementQueue<Stream, Element>::ElementQueue(const popef::Anchor& anchor,
                                            std::shared_ptr<QueueControl> control)
    : anchor_(anchor),
      tensor_bytes_(static_cast<std::uint64_t>(anchor.tensorInfo().sizeInBytes())),
      control_(std::move(control)),
      ring_(control_->capacity),
      flushes_(std::make_unique<FlushPlaces>()) {}

template <typename Stream, typename Element>
ElementQueue<Stream, Element>::~ElementQueue() = default;

template <typename Stream, typename Element>
void ElementQueue<Stream, Element>::Push(Element element, bool parts_allowed) {
  CheckSize(anchor_, parts_allowed, element.data, element.size);
  const auto disconnected = [&] { return control_->disconnected.load(std::memory_order_acquire); };
  const auto check = [&] {
    if (!disconnected()) return;
    throw Error("queue of '" + anchor_.name() + "': disconnected, nothing can be queued any more");
  };
  check();
  const auto has_room = [&] { return ring_.writeAvailable() > 0; };
  while (!has_room()) {
    control_->for_room.Wait(std::nullopt, [&] { return has_room() || disconnected(); });
    check();
  }
  ring_.push(std::move(element));
  control_->for_elements.Notify();
  // Disconnected since: nobody else would ever drop this element.
  if (!disconnected()) return;
  // Destroyed without the lock: they are the user's.
  std::vector<CompletionCallback> callbacks;
  const std::lock_guard lock(control_->manager_mutex);
  if (control_->drain) callbacks = control_->drain();
}

template <typename Stream, typename Element>
auto ElementQueue<Stream, Element>::Arrived() -> std::optional<Arrival> {
  const bool element = ring_.front() != nullptr;
  if (control_->Ended()) return Arrival::kEnd;
  if (flushes_->Reached(*control_, ring_.readPosition())) return Arrival::kFlush;
  if (element) return Arrival::kElement;
  return std::nullopt;
}

template <typename Stream, typename Element>
auto ElementQueue<Stream, Element>::Await(std::optional<std::chrono::nanoseconds> patience)
    -> std::optional<Arrival> {
  std::optional<Arrival> arrival;
  const auto arrived = [&] { return (arrival = Arrived()).has_value(); };
  if (arrived()) return arrival;
  std::optional<Waiting::Clock::time_point> deadline;
  if (patience) deadline = Waiting::Clock::now() + *patience;
  control_->for_elements.Wait(deadline, arrived);
  return arrival;
}

template <typename Stream, typename Element>
std::optional<Element> ElementQueue<Stream, Element>::Advance(std::uint64_t bytes) {
  offset_ += bytes;
  if (offset_ < ring_.front()->size) return std::nullopt;
  offset_ = 0;
  Element element;
  ring_.pop(element);
  control_->for_room.Notify();
  return element;
}

template <typename Stream, typename Element>
void ElementQueue<Stream, Element>::ProgramOver() {
  control_->ProgramOver();
}

template <typename Stream, typename Element>
void ElementQueue<Stream, Element>::Stop() {
  control_->stopped.store(true, std::memory_order_release);
  control_->for_elements.Notify();
}

template <typename Stream, typename Element>
void ElementQueue<Stream, Element>::Start() {
  control_->stopped.store(false, std::memory_order_release);
}

template <typename Stream, typename Element>
void ElementQueue<Stream, Element>::AddFlush(std::uint64_t flush) {
  flushes_->Add(*control_, flush, ring_.writePosition());
}

template <typename Stream, typename Element>
void ElementQueue<Stream, Element>::Drain(std::vector<CompletionCallback>& callbacks) {
  Element element;
  while (ring_.pop(element)) callbacks.push_back(std::move(element.callback));
  offset_ = 0;
  control_->for_room.Notify();
}

template class ElementQueue<TensorSource, InputElement>;
template class ElementQueue<TensorSink, OutputElement>;

}  // namespace model_runtime
