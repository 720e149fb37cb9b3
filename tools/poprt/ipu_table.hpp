#pragma once

#include <string>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::cli {

/// What the plan predicts as a table, a line for each graph, and how full the tiles are.
std::string IpuTable(const ipu::Plan& plan);

}  // namespace poprt::cli
