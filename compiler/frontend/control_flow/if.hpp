#pragma once

#include "absl/status/status.h"
#include "compiler/frontend/graph_importer.hpp"

namespace poprt::frontend {

/// Imports an If: the branch that is known to run is put in place of the node, else the node
/// becomes an If with regions. See ImportControlFlow().
absl::Status ImportIf(GraphImporter& importer, NodeImport& import);

}  // namespace poprt::frontend
