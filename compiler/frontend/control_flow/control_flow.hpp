#pragma once

#include "absl/status/status.h"
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

}  // namespace poprt::frontend
