#include "runtime/kernels/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/kernels/computing_thread.hpp"
#include "runtime/kernels/pause.hpp"

namespace poprt::kernels {
namespace {

// Long enough to bridge the small serial steps between two kernels of one network, short enough
// that an idle process costs nothing.
constexpr auto kSpinTime = std::chrono::microseconds(50);

/// Waits for `ready` with the processor busy; gives up after kSpinTime.
template <typename Ready>
bool Spin(Ready ready) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() - start < kSpinTime);
  return ready();
}

// Every worker has a part of the job's tasks, a range, so that from kernel to kernel it meets in
// its caches what it has left there; whoever has none left takes of the others'. The ticket word of
// a part holds the number of the job in its upper half and the tasks not yet taken in its lower
// half. A worker that takes a task from a word it read earlier thereby proves that the job is still
// the same one: a job with a task left cannot have ended. Numbers come again after 2^32 jobs; no
// worker stays that long between reading a word and taking from it.
constexpr std::uint64_t kTasksMask = 0xFFFFFFFFU;
constexpr std::int64_t kMaxTasksOfJob = std::numeric_limits<std::int32_t>::max();

/// A cache line of its own: only its worker writes it until that has no tasks left.
struct alignas(64) Tickets {
  std::atomic<std::uint64_t> word{0};
};

}  // namespace

struct ThreadPool::State {
  // Written by callers for every job, read by spinning helpers.
  alignas(64) std::atomic<std::uint32_t> job{0};  ///< number of the last
  std::atomic<const TaskRef*> task{nullptr};
  std::atomic<std::int64_t> first{0};  ///< number of the job's first task
  std::atomic<std::int64_t> total{0};  ///< tasks of the job
  std::atomic<TaskOrder> order{TaskOrder::kForwards};
  std::vector<Tickets> tickets;  ///< of the part of each worker

  alignas(64) std::atomic<std::int64_t> finished{0};

  alignas(64) std::atomic<bool> busy{false};  ///< a caller has the helpers
  std::atomic<int> sleeping_helpers{0};
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  std::vector<std::thread> threads;
  const int size;

  explicit State(int workers) : tickets(static_cast<std::size_t>(workers)), size(workers) {}

  /// How many of a job's tasks are in the first `parts` parts.
  std::int64_t TasksBefore(std::int64_t parts, std::int64_t tasks) const {
    return tasks * parts / size;
  }

  /// Runs tasks of a worker's part until none is left to take; returns how many.
  std::int64_t TakeTasksOf(int part, int worker) {
    std::atomic<std::uint64_t>& word = tickets[static_cast<std::size_t>(part)].word;
    std::int64_t ran = 0;
    std::uint64_t seen = word.load(std::memory_order_acquire);
    while ((seen & kTasksMask) != 0) {
      // Atomic because a late helper may read them while the next job is written; the exchange
      // below then fails. If it succeeds they are this job's: the caller wrote them before the word
      // that was read, and writes the next ones only after this task was reported.
      const TaskRef* job_task = task.load(std::memory_order_relaxed);
      const bool forwards = order.load(std::memory_order_relaxed) == TaskOrder::kForwards;
      const std::int64_t border =
          first.load(std::memory_order_relaxed) +
          TasksBefore(forwards ? part + 1 : part, total.load(std::memory_order_relaxed));
      if (!word.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        continue;
      }
      const auto left = static_cast<std::int64_t>(seen & kTasksMask);
      (*job_task)(forwards ? border - left : border + left - 1, worker);
      ++ran;
      // No other job can have begun meanwhile: this one ends only once `ran` is reported.
      seen = word.load(std::memory_order_acquire);
    }
    return ran;
  }

  /// Runs tasks, those of the worker's own part first, until none is left to take; returns how many
  /// this thread ran.
  std::int64_t TakeTasks(int worker) {
    std::int64_t ran = 0;
    for (int i = 0; i < size; ++i) ran += TakeTasksOf((worker + i) % size, worker);
    return ran;
  }

  /// Tells the caller about finished tasks; nothing of the job may be touched afterwards.
  void ReportFinished(std::int64_t ran) {
    finished.fetch_add(ran);
    if (caller_sleeps.load()) {
      const std::lock_guard lock(mutex);
      work_done.notify_one();
    }
  }

  void HelperMain(int worker) {
    std::uint32_t seen = 0;
    const auto is_wanted = [&] { return job.load() != seen || stopping.load(); };
    while (!stopping.load()) {
      seen = job.load();
      const std::int64_t ran = TakeTasks(worker);
      if (ran > 0) ReportFinished(ran);
      if (Spin(is_wanted)) continue;
      std::unique_lock lock(mutex);
      sleeping_helpers.fetch_add(1);
      work_ready.wait(lock, is_wanted);
      sleeping_helpers.fetch_sub(1);
    }
  }

  void WaitForFinished(std::int64_t tasks) {
    const auto done = [this, tasks] { return finished.load() == tasks; };
    if (Spin(done)) return;
    std::unique_lock lock(mutex);
    caller_sleeps.store(true);
    work_done.wait(lock, done);
    caller_sleeps.store(false);
  }

  void RunJob(std::int64_t first_task, std::int64_t tasks, const TaskRef& job_task,
              TaskOrder job_order) {
    task.store(&job_task, std::memory_order_relaxed);
    first.store(first_task, std::memory_order_relaxed);
    total.store(tasks, std::memory_order_relaxed);
    order.store(job_order, std::memory_order_relaxed);
    finished.store(0, std::memory_order_relaxed);
    const std::uint32_t number = job.load(std::memory_order_relaxed) + 1;
    for (int part = 0; part < size; ++part) {
      const std::int64_t left = TasksBefore(part + 1, tasks) - TasksBefore(part, tasks);
      tickets[static_cast<std::size_t>(part)].word.store(
          (std::uint64_t{number} << 32) | static_cast<std::uint64_t>(left),
          std::memory_order_release);
    }
    job.store(number);
    if (sleeping_helpers.load() > 0) {
      const std::lock_guard lock(mutex);
      work_ready.notify_all();
    }
    const std::int64_t ran = TakeTasks(0);
    if (finished.fetch_add(ran) + ran != tasks) WaitForFinished(tasks);
  }
};

ThreadPool::ThreadPool(int size)
    : state_(std::make_unique<State>(std::clamp(size, 1, kMostWorkers))) {
  state_->threads.reserve(static_cast<std::size_t>(state_->size));
  try {
    for (int worker = 1; worker < state_->size; ++worker) {
      state_->threads.emplace_back([state = state_.get(), worker] { state->HelperMain(worker); });
    }
  } catch (const std::system_error&) {
    // The system gives no more threads: those that exist, at least the caller, do all the work.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping.store(true);
    state_->work_ready.notify_all();
  }
  for (std::thread& thread : state_->threads) thread.join();
}

int ThreadPool::size() const { return state_->size; }

void ThreadPool::Run(std::int64_t tasks, TaskRef task, TaskOrder order) {
  const bool is_crowded = ComputingThread::Count() >= state_->size;
  if (tasks > 1 && !is_crowded && !state_->threads.empty() && !state_->busy.exchange(true)) {
    for (std::int64_t first = 0; first < tasks; first += kMaxTasksOfJob) {
      state_->RunJob(first, std::min(tasks - first, kMaxTasksOfJob), task, order);
    }
    state_->busy.store(false);
    return;
  }
  const bool forwards = order == TaskOrder::kForwards;
  for (std::int64_t i = 0; i < tasks; ++i) task(forwards ? i : tasks - 1 - i, 0);
}

namespace {

int ProcessThreads() {
  if (const char* text = std::getenv("POPRT_NUM_THREADS"); text != nullptr) {
    int threads = 0;
    const char* end = text + std::strlen(text);
    const auto parsed = std::from_chars(text, end, threads);
    if (parsed.ec == std::errc() && parsed.ptr == end && threads > 0) return threads;
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

ThreadPool& ProcessThreadPool() {
  // Never destroyed: kernels may still run in other threads while the process ends, and a forked
  // child could not join threads that it does not have.
  static ThreadPool* const pool = new ThreadPool(ProcessThreads());
  return *pool;
}

}  // namespace poprt::kernels
