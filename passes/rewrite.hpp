#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"

/// What most passes are made of: a rule that looks at one node and its producers.
namespace poprt::passes {

/// One sweep over a graph, nodes in order. A pattern is rooted at its last node, so that everything
/// it reads is defined before it; the rule changes that node in place (its outputs and their names
/// stay) or forwards its output to another value. What the pattern no longer needs goes afterwards.
/// The changed node and those inserted run where the node ran, if it says so.
class Rewriter {
 public:
  /// True if the rule changed something. A rule must not match what it has made.
  using Rule = std::function<bool(Rewriter& rewriter, ir::Node& node)>;

  explicit Rewriter(ir::Graph& graph);

  ir::Graph& graph() const { return graph_; }

  /// The node that defines the value, as changed by this sweep; null for graph inputs, constants
  /// and what the sweep inserted. Valid until the rule returns.
  ir::Node* Producer(ir::ValueId id);
  /// Producer, if it is of that operator.
  ir::Node* Producer(ir::ValueId id, std::string_view op);

  /// Uses by nodes; uses by nodes that became dead in this sweep still count.
  int NodeUses(ir::ValueId id) const { return node_uses_[static_cast<std::size_t>(id)]; }
  bool IsOutput(ir::ValueId id) const { return is_output_[static_cast<std::size_t>(id)]; }
  /// Read by exactly that many node operands, and no output of the graph.
  bool UsedOnlyBy(int operands, ir::ValueId id) const {
    return NodeUses(id) == operands && !IsOutput(id);
  }

  /// Puts a node just before the current one. Returns its first output.
  ir::ValueId Insert(ir::Node node);
  ir::ValueId AddConstant(std::string_view name, Tensor tensor);

  /// Uses of `from`, an output of the current node, become uses of `to`.
  void Forward(ir::ValueId from, ir::ValueId to);

  /// Forwards the only output of `node` to its input i if both have the same type; else false.
  bool Bypass(const ir::Node& node, std::size_t i = 0);

  bool Sweep(const Rule& rule);

 private:
  void Resolve(std::vector<ir::ValueId>& ids) const;
  ir::ValueId Resolved(ir::ValueId id) const;
  void Grow();
  void Count(const std::vector<ir::ValueId>& ids, int change);
  void PlaceInserted();

  struct Insertion {
    std::size_t position;
    ir::Node node;
  };

  ir::Graph& graph_;
  std::size_t position_ = 0;
  std::vector<std::int32_t> producers_;
  std::vector<int> node_uses_;
  std::vector<bool> is_output_;
  std::vector<ir::ValueId> forwarded_;
  std::vector<Insertion> insertions_;
};

/// Sweeps until the rule applies nowhere. True if anything changed; then unused nodes and values
/// are gone, otherwise the graph is untouched.
bool Rewrite(ir::Graph& graph, const Rewriter::Rule& rule);

}  // namespace poprt::passes
