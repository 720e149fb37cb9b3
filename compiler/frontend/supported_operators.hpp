#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/opset_imports.hpp"
#include "compiler/frontend/problems.hpp"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace poprt::frontend {

/// Why nodes of that operator, which is of a known domain, cannot be imported and what to do; empty
/// if they can.
std::string WhyUnsupported(const onnx::NodeProto& node);

/// True if ReportDomains has a problem with the domain of the node.
bool HasForeignDomain(const onnx::NodeProto& node, const NodeOpsets& opsets);

/// One problem for each domain whose operators are not supported or that the model does not import,
/// which names all operators that the graph and its subgraphs take from there. `counts` says which
/// nodes of the graph count; empty for all.
void ReportDomains(const onnx::GraphProto& graph, const std::vector<bool>& counts,
                   const NodeOpsets& opsets, Problems& problems);

}  // namespace poprt::frontend
