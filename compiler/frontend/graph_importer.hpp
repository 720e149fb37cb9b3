#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/graph_builder.hpp"
#include "compiler/frontend/graph_structure.hpp"
#include "compiler/frontend/import_value.hpp"
#include "compiler/frontend/opset_imports.hpp"
#include "compiler/frontend/problems.hpp"
#include "compiler/frontend/proto/external_data.hpp"
#include "runtime/tensor/tensor.hpp"

namespace onnx {
class GraphProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace poprt::frontend {

/// One node of a file that is being imported.
struct NodeImport {
  const onnx::NodeProto& node;
  const onnx::GraphProto& graph;    ///< that the node is in
  const std::string& name;          ///< what the node is called
  const GraphStructure& structure;  ///< of the graph that the node is in
  /// As many as the node has; nothing stands for an absent one.
  std::vector<std::optional<ImportValue>> inputs;
  GraphBuilder& builder;
  Problems& problems;
};

/// Imports graphs of one model, its own and those inside its nodes, into builders.
class GraphImporter {
 public:
  /// Both must outlive the importer.
  GraphImporter(const NodeOpsets& opsets, ExternalData& external)
      : opsets_(opsets), external_(external) {}

  const NodeOpsets& opsets() const { return opsets_; }

  /// Adds the live nodes of a graph to the builder, whose innermost scope has its inputs and
  /// initializers. Goes on after problems as far as it makes sense.
  void ImportNodes(const onnx::GraphProto& graph, const GraphStructure& structure,
                   GraphBuilder& builder, Problems& problems);

  /// Adds a body, with these values as its inputs, to the graph of the builder and gives the values
  /// of its outputs. May be called any number of times. Nothing if there were problems.
  std::optional<std::vector<ImportValue>> ImportBody(const onnx::GraphProto& body,
                                                     const GraphStructure& structure,
                                                     std::span<const ImportValue> arguments,
                                                     GraphBuilder& builder, Problems& problems);

  /// Adds the nodes of a graph that are live in `structure` once more, with what the innermost
  /// scope of the builder has in place of what they read. False if there were problems.
  bool ImportPart(const onnx::GraphProto& graph, const GraphStructure& structure,
                  GraphBuilder& builder, Problems& problems);

  /// "node 'a' (Conv, opset 13, inputs float32[1, 3], ?): "; types as far as the builder, which may
  /// be null, knows them.
  std::string Where(const onnx::NodeProto& node, GraphBuilder* builder) const;

  /// Adds a node of an operator of the table, or one that upgrades replace. Errors do not name it.
  absl::Status ImportOperator(NodeImport& import);

  ExternalData& external() { return external_; }

  /// Counts what strings take that the importer makes; false when that is more than a model may.
  bool CountStringBytes(std::uint64_t bytes);

 private:
  void ImportNode(NodeImport import);
  /// False, and a problem, when bodies and parts have more nodes all together than they may.
  bool CountBodyNodes(std::int64_t count, Problems& problems);
  /// ImportKnown; the nodes it makes run where the node does, if that says so.
  absl::Status ImportPlaced(NodeImport& import);
  absl::Status ImportKnown(NodeImport& import);
  absl::StatusOr<Attributes> AttributesOf(const onnx::NodeProto& node);
  void ImportInitializers(const onnx::GraphProto& body, GraphBuilder& builder, Problems& problems);

  const NodeOpsets& opsets_;
  ExternalData& external_;
  int depth_ = 0;  ///< of bodies around what is being imported
  std::int64_t body_nodes_ = 0;
  std::uint64_t string_bytes_ = 0;
  /// Bodies may be imported many times; their constants are read once.
  std::unordered_map<const onnx::NodeProto*, Attributes> attributes_;
  std::unordered_map<const void*, HostValue> initializers_;
};

}  // namespace poprt::frontend
