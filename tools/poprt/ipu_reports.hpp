#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ipu/plan/plan.hpp"
#include "tools/poprt/outcome.hpp"

namespace poprt::cli {

/// Writes report.html, report.json and trace.json of the plan to the folder, which exists; all
/// three or, when something fails, none.
absl::StatusOr<std::vector<WrittenFile>> WriteIpuReports(const ipu::Plan& plan,
                                                         const std::string& folder);

}  // namespace poprt::cli
