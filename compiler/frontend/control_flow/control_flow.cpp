#include "compiler/frontend/control_flow/control_flow.hpp"

#include <onnx/onnx_pb.h>

#include <string>

#include "compiler/frontend/control_flow/if.hpp"
#include "compiler/frontend/control_flow/loop.hpp"
#include "compiler/frontend/control_flow/scan.hpp"

namespace poprt::frontend {

bool IsControlFlow(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return IsDefaultDomain(node.domain()) && (op == "If" || op == "Loop" || op == "Scan");
}

absl::Status ImportControlFlow(GraphImporter& importer, NodeImport& import) {
  if (import.node.op_type() == "If") return ImportIf(importer, import);
  if (import.node.op_type() == "Loop") return ImportLoop(importer, import);
  return ImportScan(importer, import);
}

}  // namespace poprt::frontend
