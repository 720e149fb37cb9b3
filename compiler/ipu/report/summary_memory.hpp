#pragma once

#include <string>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// The section "Memory Usage:" of the summary.
std::string MemorySummary(const Plan& plan);

}  // namespace poprt::ipu
