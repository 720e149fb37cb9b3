#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// A node on its way into the graph: its static inputs are still inputs.
struct SourceNode {
  std::string name;
  std::string op;
  std::vector<ir::ValueId> inputs;
  std::vector<std::string> outputs;  ///< names; empty for those not asked for
  Attributes attributes;
};

/// Where upgrades put what they make, and what they may know of the graph so far.
class NodeSink {
 public:
  virtual ~NodeSink() = default;

  virtual const ir::Graph& graph() const = 0;
  virtual ir::ValueId AddConstant(const std::string& name, Tensor tensor) = 0;
  /// Adds a node in its newest form, whose single output is a new value.
  virtual absl::StatusOr<ir::ValueId> Add(const std::string& name, const std::string& op,
                                          std::vector<ir::ValueId> inputs,
                                          Attributes attributes) = 0;
  /// Makes `name`, an output of the node being upgraded, a name of the value.
  virtual void Define(const std::string& name, ir::ValueId value) = 0;
  /// Whether anything reads the value of that name.
  virtual bool IsUsed(const std::string& name) const = 0;
  /// Tells the user of something that does not stop the import.
  virtual void Warn(const std::string& message) = 0;
};

/// Brings a node of an older form to the newest one. May add nodes before it; the node itself
/// becomes the last of its replacement, or loses its operator's name when Define has given all its
/// outputs values. Unimplemented when there is no such form, InvalidArgument
/// when the node is wrong; messages do not name the node.
absl::Status Upgrade(int opset, SourceNode& node, NodeSink& sink);

/// True if nodes of this operator never reach the operator table: Upgrade makes others of them.
bool IsReplaced(std::string_view op, std::string_view domain = {});

/// The operators for which IsReplaced holds, "Dropout" or "ai.onnx.ml.Scaler", in that order.
std::vector<std::string> ReplacedOps();

}  // namespace poprt::frontend
