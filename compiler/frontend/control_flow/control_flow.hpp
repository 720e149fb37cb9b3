#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/graph_importer.hpp"

namespace onnx {
class NodeProto;
}

namespace poprt::frontend {

/// True for If, Loop and Scan.
bool IsControlFlow(const onnx::NodeProto& node);

/// Imports an If, Loop or Scan: what is known to run is put in place of the node, the rest becomes
/// an If or a Loop with regions. Problems inside bodies are added to those of the import.
absl::Status ImportControlFlow(GraphImporter& importer, NodeImport& import);

absl::Status ImportLoop(GraphImporter& importer, NodeImport& import);
absl::Status ImportScan(GraphImporter& importer, NodeImport& import);

/// A body of the node and what its names say.
struct Body {
  const onnx::GraphProto& graph;
  const GraphStructure& structure;
};
absl::StatusOr<Body> BodyOf(const NodeImport& import, const std::string& attribute);

/// InvalidArgument unless the body has so many inputs and outputs; more outputs are fine if
/// `at_least`.
absl::Status CheckCounts(const Body& body, std::size_t inputs, std::size_t outputs, bool at_least);

/// The tensor of one element as a scalar. InvalidArgument, continuing `what`, when it is none.
absl::StatusOr<ir::ValueId> AsScalar(GraphBuilder& builder, const ImportValue& value,
                                     ElementType element, const std::string& what);

/// Gives the outputs of the node their values.
void DefineOutputs(const NodeImport& import, const std::vector<ImportValue>& results);

}  // namespace poprt::frontend
