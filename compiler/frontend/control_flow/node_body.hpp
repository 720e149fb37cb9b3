#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/graph_importer.hpp"

namespace poprt::frontend {

/// A body of a node and what its names say. It refers to the model and to the import.
struct Body {
  const onnx::GraphProto& graph;
  const GraphStructure& structure;
};

/// The graph that the attribute holds. InvalidArgument when it holds none.
absl::StatusOr<Body> BodyOf(const NodeImport& import, const std::string& attribute);

/// InvalidArgument unless the body has so many inputs and outputs; more outputs are fine if
/// `at_least`.
absl::Status CheckCounts(const Body& body, std::size_t inputs, std::size_t outputs, bool at_least);

}  // namespace poprt::frontend
