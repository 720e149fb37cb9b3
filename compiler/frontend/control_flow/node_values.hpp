#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/graph_importer.hpp"

/// The values that go into nodes of control flow and come out of them.
namespace poprt::frontend {

/// The tensor of one element as a scalar. InvalidArgument, continuing `what`, when it is none.
absl::StatusOr<ir::ValueId> AsScalar(GraphBuilder& builder, const ImportValue& value,
                                     ElementType element, const std::string& what);

/// Gives the outputs of the node their values.
void DefineOutputs(const NodeImport& import, const std::vector<ImportValue>& results);

}  // namespace poprt::frontend
