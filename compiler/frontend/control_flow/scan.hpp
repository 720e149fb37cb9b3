#pragma once

#include "absl/status/status.h"
#include "compiler/frontend/graph_importer.hpp"

namespace poprt::frontend {

/// Imports a Scan as a Loop that gathers slices. The form with a batch gets one more Loop around
/// it. See ImportControlFlow().
absl::Status ImportScan(GraphImporter& importer, NodeImport& import);

}  // namespace poprt::frontend
