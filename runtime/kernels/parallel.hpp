#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/thread_pool.hpp"

/// Before an innermost loop whose iterations do not depend on each other, even when an output is
/// the same memory as an input of the same element size.
#if defined(__clang__)
#define POPRT_INDEPENDENT_LOOP
#else
#define POPRT_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

/// Before a loop over the lanes of a vector: g++ unrolls it otherwise, and then finds no vectors in
/// what is left when there are selections in it.
#if defined(__clang__)
#define POPRT_LANE_LOOP
#else
#define POPRT_LANE_LOOP _Pragma("GCC unroll 1")
#endif

namespace poprt::kernels {

/// Elements that one task of a cheap loop should have at least.
inline constexpr std::int64_t kElementsPerTask = 16384;

/// Tasks that a kernel cuts its work into where they stay worth handing out. Far more than threads:
/// what else runs on a core may halve its speed for a while, and the others wait for its last task.
inline constexpr std::int64_t kTasksOfKernel = 32;

/// Cuts [0, count) into ranges of `grain` (>= 1), the same whatever the pool, and calls
/// f(begin, end, worker) for each. Without a pool or with one range only, on the calling thread.
template <typename F>
void ForRanges(ThreadPool* pool, std::int64_t count, std::int64_t grain, const F& f) {
  if (count <= 0) return;
  const std::int64_t tasks = (count - 1) / grain + 1;
  const auto task = [&](std::int64_t i, int worker) {
    f(i * grain, std::min(count - i * grain, grain) + i * grain, worker);
  };
  if (pool == nullptr || tasks == 1) {
    for (std::int64_t i = 0; i < tasks; ++i) task(i, 0);
  } else {
    pool->Run(tasks, task);
  }
}

/// ForRanges over elements of `bytes` that are written from `to` on. A range that begins within a
/// cache line is cut where the next one begins, since stores that cross lines take twice as long.
template <typename F>
void ForLines(ThreadPool* pool, std::int64_t count, std::int64_t grain, const std::byte* to,
              std::size_t bytes, const F& f) {
  constexpr std::size_t kLineBytes = 64;
  ForRanges(pool, count, grain, [&](std::int64_t begin, std::int64_t end, int worker) {
    const std::size_t at =
        reinterpret_cast<std::uintptr_t>(to) + static_cast<std::size_t>(begin) * bytes;
    const std::size_t rest = (0 - at) % kLineBytes;
    const auto line = begin + static_cast<std::int64_t>(rest / bytes);
    if (rest > 0 && rest % bytes == 0 && line < end) {
      f(begin, line, worker);
      begin = line;
    }
    f(begin, end, worker);
  });
}

/// The grain for items of `cost` elements each.
inline std::int64_t GrainFor(std::int64_t cost) {
  return std::max<std::int64_t>(1, kElementsPerTask / std::max<std::int64_t>(1, cost));
}

}  // namespace poprt::kernels
