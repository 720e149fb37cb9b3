#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/frontend/problems.hpp"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace poprt::frontend {

/// What the names of a graph say about it.
struct GraphStructure {
  /// For each node: whether an output of the graph depends on it.
  std::vector<bool> live;
  /// Values that live nodes, what is inside them, or the graph's outputs read.
  std::unordered_set<std::string> used;
  /// Those that the graph does not define: a body reads them of the graphs around it.
  std::set<std::string> outer;
  /// What each node is called: its name, made unique, or one made of its operator and position.
  std::vector<std::string> node_names;
  /// The graphs that nodes hold as attributes.
  std::map<const onnx::GraphProto*, GraphStructure> bodies;
};

/// Checks that every value is defined once and before it is used, that there are outputs and that
/// all of them are defined. The same for the graphs inside nodes, which see the names around them;
/// a name that is defined again inside hides the outer one there.
GraphStructure CheckStructure(const onnx::GraphProto& graph, Problems& problems);

/// The graph-valued attributes of a node.
std::vector<const onnx::GraphProto*> BodiesOf(const onnx::NodeProto& node);

/// True for the node whose attributes 'xs', 'zs' and 'y' name tensors of its graph.
bool IsGradient(const onnx::NodeProto& node);

/// "in attribute 'body' of node 'a' (Loop): ".
std::string DescribeBody(const onnx::NodeProto& node, const std::string& attribute);

/// "node 'a' (Conv)", "node '<unnamed>' with output 'y' (Conv)".
std::string Describe(const onnx::NodeProto& node);

}  // namespace poprt::frontend
