#pragma once

#include <string>
#include <vector>

#include "compiler/emit/onnx_node.hpp"
#include "compiler/ir/graph.hpp"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace poprt::emit {

/// Name, element type and shape of an input or output.
void WriteValueInfo(const std::string& name, const TensorType& type, onnx::ValueInfoProto* info);

/// The same for output `i` of the graph, called `name`; a dimension whose extent depends on data is
/// open.
void WriteOutputInfo(const ir::Graph& graph, std::size_t i, const std::string& name,
                     onnx::ValueInfoProto* info);

/// Writes the nodes and constants of one ir::Graph into a scope of an ONNX model.
class OnnxGraphWriter {
 public:
  /// The graph's inputs keep their names, which the caller has taken, as it has `output_names`:
  /// what the outputs are called in this scope.
  OnnxGraphWriter(const ir::Graph& graph, std::vector<std::string> output_names, OnnxNames& names,
                  OnnxConstants& constants)
      : graph_(graph),
        output_names_(std::move(output_names)),
        names_(names),
        constants_(constants) {
    for (const ir::ValueId id : graph.inputs) input_names_.push_back(graph.value(id).name);
  }
  /// A region of a node, the inputs of which are called `input_names`.
  OnnxGraphWriter(const ir::Graph& region, std::vector<std::string> input_names,
                  std::vector<std::string> output_names, OnnxNames& names, OnnxConstants& constants)
      : graph_(region),
        input_names_(std::move(input_names)),
        output_names_(std::move(output_names)),
        names_(names),
        constants_(constants) {}

  /// Constants are shared with equal ones of the model if `share_constants`, otherwise written
  /// under their own names. Adds a line to `problems` for every node that cannot be written.
  void Write(OnnxNodeWriter& writer, bool share_constants, std::vector<std::string>& problems);

 private:
  void NameValues(bool share_constants);
  absl::Status WriteNode(const ir::Node& node, const ir::Uses& uses, OnnxNodeWriter& writer);
  /// An operator with open outputs, whose count ONNX does not have: it is the extent of the first.
  absl::Status WriteOpen(const ir::Node& node, const ops::OpDef& def, bool needs_count,
                         OnnxNodeWriter& writer);
  /// A control-flow node with its regions as graphs inside it, which see all names around them.
  void WriteRegions(const ir::Node& node, OnnxNodeWriter& writer, bool share_constants,
                    std::vector<std::string>& problems);
  std::vector<OnnxValue> Values(const std::vector<ir::ValueId>& ids) const;

  const ir::Graph& graph_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  OnnxNames& names_;
  OnnxConstants& constants_;
  std::vector<std::string> value_names_;
  /// Outputs that are no result of a node under that name and need an Identity.
  std::vector<std::size_t> copies_;
};

}  // namespace poprt::emit
