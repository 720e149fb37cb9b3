#pragma once

#include <string>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// A plan as text: first the sections, labels and number formats of Poplar's profile summary, which
/// tools parse (section 3.4), then what it predicts, what each graph of a fused program takes and
/// why the tiles are divided as they are. Names of the model are kept to one line.
std::string SummaryReport(const Plan& plan);

}  // namespace poprt::ipu
