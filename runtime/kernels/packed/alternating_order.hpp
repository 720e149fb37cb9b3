#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/kernels/thread_pool.hpp"

namespace poprt::kernels {

/// The order of the tasks of a kernel that reads weights once: every run begins where the last one
/// ended, with weights that a cache still has. For any thread.
class AlternatingOrder {
 public:
  TaskOrder Next() const {
    return runs_.fetch_add(1, std::memory_order_relaxed) % 2 == 0 ? TaskOrder::kForwards
                                                                  : TaskOrder::kBackwards;
  }

 private:
  mutable std::atomic<std::uint32_t> runs_ = 0;
};

}  // namespace poprt::kernels
