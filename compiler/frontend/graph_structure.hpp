#pragma once

#include <cstddef>
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
  /// Values that live nodes or the graph's outputs read.
  std::unordered_set<std::string> used;
  /// What each node is called: its name, made unique, or one made of its operator and position.
  std::vector<std::string> node_names;
};

/// Checks that every value is defined once and before it is used, that there are outputs and that
/// all of them are defined.
GraphStructure CheckStructure(const onnx::GraphProto& graph, Problems& problems);

/// "node 'a' (Conv)", "node '<unnamed>' with output 'y' (Conv)".
std::string Describe(const onnx::NodeProto& node);

}  // namespace poprt::frontend
