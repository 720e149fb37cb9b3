#pragma once

#include "absl/status/status.h"
#include "compiler/frontend/graph_importer.hpp"

namespace poprt::frontend {

/// Imports a Loop as AddLoop() says. See ImportControlFlow().
absl::Status ImportLoop(GraphImporter& importer, NodeImport& import);

}  // namespace poprt::frontend
