#pragma once

#include <cstdint>

#include "runtime/kernels/thread_pool.hpp"

namespace poprt::kernels {

/// Threads that RunRounds can employ.
inline constexpr int kMostRoundParts = 16;

/// Calls run(round, part) for all `parts`, from 1 to kMostRoundParts, of all rounds, and returns
/// when all calls have returned. A round begins when the one before has ended. For rounds of a few
/// microseconds: threads meet in a fraction of one, where ThreadPool::Run takes more than one.
///
/// A part stays on one thread, where its memory is in the caches, unless that thread is not
/// running: then the others do its work. Nothing is allocated; from any thread.
void RunRounds(ThreadPool& pool, std::int64_t rounds, int parts, TaskRef run);

}  // namespace poprt::kernels
