#pragma once

#include <string>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// What would make a program fit whose memory overflows, one line each, with figures of its fullest
/// tile; the plan must have overflowing tiles. The lines say how much a change saves and whether
/// that is enough; as the plan changes with it, only compiling again shows what it really does.
std::vector<std::string> RemediesFor(const Plan& plan);

}  // namespace poprt::ipu
