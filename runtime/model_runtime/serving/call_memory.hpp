#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model_runtime/serving/request_router.hpp"
#include "runtime/program/program.hpp"

namespace model_runtime {

/// The outputs of the branch that has most.
inline std::size_t MostOutputs(const poprt::program::Program& program) {
  std::size_t most = 0;
  for (const auto& branch : program.branches) most = std::max(most, branch.outputs.size());
  return most;
}

/// What a request needs on the thread that makes and runs it.
struct CallMemory {
  Route route;
  std::vector<std::int64_t> extents;
};

/// That of the calling thread, with the capacity of earlier requests, so that running a request
/// allocates nothing. Valid until the next call on this thread.
inline CallMemory& MemoryOfCall(std::size_t most_outputs) {
  thread_local CallMemory memory;
  memory.extents.resize(most_outputs);
  return memory;
}

}  // namespace model_runtime
