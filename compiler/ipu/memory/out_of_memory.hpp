#pragma once

#include "absl/status/status.h"
#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// ResourceExhausted when tiles overflow (MemoryPlan::overflowing). The message begins with
/// PopART's sentence and has, for each such tile and in their order, the line that tools parse
/// (section 3.2):
///
///     Out of memory: Cannot fit all variable data onto one or more tiles.
///     Out of memory on tile <id>: <bytes> bytes
///
/// where ids count over all IPUs; then come the five worst tiles with the tensors and steps that
/// fill them, and what would help.
absl::Status CheckMemory(const Plan& plan);

}  // namespace poprt::ipu
