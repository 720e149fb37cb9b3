#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/graph_importer.hpp"

namespace poprt::frontend {

/// True if the operator, for some inputs at least, is computed while importing. The domain's name
/// is empty for the default domain.
bool IsImportTimeOp(std::string_view name, std::string_view domain);

/// The operators that are computed while importing whatever their inputs, with their domain if that
/// is not the default one: for the documentation.
std::vector<std::string> ImportTimeOps();

/// True if this node is computed while importing: since it takes, makes or depends on sequences,
/// optionals or strings.
bool IsImportTime(const NodeImport& import);

/// Computes such a node and gives its outputs their values. Errors do not name the node.
absl::Status ImportAtImportTime(GraphImporter& importer, NodeImport& import);

}  // namespace poprt::frontend
