#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <list>
#include <memory>
#include <utility>

/// Requests that run while Python does something else.
namespace poprt::python {

/// True if all futures, by name, have a result or an error.
template <typename Futures>
bool AreReady(const Futures& futures) {
  return std::all_of(futures.begin(), futures.end(), [](const auto& future) {
    return future.second.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
}

/// Waits without the interpreter lock, but lets signals through. Throws the error if there is one.
template <typename Result>
void WaitFor(const std::shared_future<Result>& future) {
  const auto done = [&] {
    const pybind11::gil_scoped_release release;
    return future.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
  };
  while (!done()) {
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  }
  future.get();
}

/// Requests that nobody has waited for: they keep their arrays until they are done, which Ready()
/// tells. Guarded by the interpreter lock.
template <typename Request>
class Orphans {
 public:
  void Add(std::unique_ptr<Request> request) { requests_.push_back(std::move(request)); }

  /// Sweep(), of many only once in a while, which makes it amortized constant.
  void SweepSometimes() {
    if (requests_.size() >= next_sweep_) Sweep();
  }

  /// Lets go of what is done.
  void Sweep() {
    // Letting go of arrays may run any Python code, also this function: not before the list is
    // consistent.
    std::list<std::unique_ptr<Request>> done;
    for (auto next = requests_.begin(); next != requests_.end();) {
      const auto at = next++;
      if ((*at)->Ready()) done.splice(done.end(), requests_, at);
    }
    constexpr std::size_t kMany = 16;
    next_sweep_ = requests_.size() < kMany ? 1 : 2 * requests_.size();
  }

 private:
  std::list<std::unique_ptr<Request>> requests_;
  std::size_t next_sweep_ = 1;  ///< size
};

}  // namespace poprt::python
