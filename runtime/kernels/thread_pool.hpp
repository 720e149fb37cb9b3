#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace poprt::kernels {

/// A borrowed callable `void(int64 task, int worker)`, or of other such numbers; must not outlive
/// what it refers to.
class TaskRef {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, TaskRef>)
      TaskRef(F&& callable)  // NOLINT: implicit, and never a copy
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object, std::int64_t task, int worker) {
          (*static_cast<std::remove_reference_t<F>*>(object))(task, worker);
        }) {}
  void operator()(std::int64_t task, int worker) const { call_(object_, task, worker); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t, int);
};

/// How a worker goes through its part of the tasks.
enum class TaskOrder : std::uint8_t { kForwards, kBackwards };

/// Fork-join threads shared by all kernels. A pool of size n runs work on the calling thread and on
/// n - 1 others, which spin briefly for the next job and then sleep.
///
/// Run() may be called from several threads: one caller at a time has the helpers, the others do
/// their work alone. The pool never allocates after construction.
class ThreadPool {
 public:
  static constexpr int kMostWorkers = 1024;

  /// `size` >= 1 counts the calling thread; there are no more than kMostWorkers.
  explicit ThreadPool(int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Workers that may run tasks of one job, the caller included; worker numbers are [0, size).
  int size() const;

  /// Calls task(i, worker) once for every i in [0, tasks), in any order, and returns when all calls
  /// have returned. Tasks must not throw. Which worker runs a task is not determined, so a task's
  /// result must not depend on `worker`, which only names a scratch area. `order` is for the
  /// caches.
  void Run(std::int64_t tasks, TaskRef task, TaskOrder order = TaskOrder::kForwards);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The pool of this process: POPRT_NUM_THREADS threads if that is set to a positive number, else
/// one for every processor this process may use. Created at the first call.
ThreadPool& ProcessThreadPool();

}  // namespace poprt::kernels
