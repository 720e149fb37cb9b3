#pragma once

#include "compiler/tuner/timing_cache.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::tuner {

/// This machine with the threads of that pool. The processor is called what the operating system
/// calls it, or by its architecture.
Machine ThisMachine(const kernels::ThreadPool& pool);

}  // namespace poprt::tuner
