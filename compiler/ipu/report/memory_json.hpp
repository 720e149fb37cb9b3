#pragma once

#include "compiler/ipu/plan/plan.hpp"
#include "compiler/ipu/report/json_text.hpp"

namespace poprt::ipu {

/// The object "memory" of report.json.
Json MemoryJson(const MemoryPlan& memory);

}  // namespace poprt::ipu
