#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// The compiler's intermediate representation: one SSA graph with static shapes for each model.
namespace poprt::ir {

/// Index of a value in its graph. Stable for the life of the graph until Compact().
using ValueId = std::int32_t;
/// Stands for an optional operand that is absent.
inline constexpr ValueId kAbsent = -1;

/// A tensor of the graph: a graph input, a constant, or the result of exactly one node.
struct Value {
  std::string name;  ///< unique in the graph, never empty
  TensorType type;
  std::optional<Tensor> constant;  ///< its elements, for a constant; type equals `type`

  bool is_constant() const { return constant.has_value(); }
};

struct Node;

/// An output whose extent along one axis depends on data: its type gives the bound, which a value
/// of the graph tells the true extent. What lies beyond it has no meaning.
struct OutputExtent {
  std::size_t output = 0;  ///< position among the graph's outputs
  std::size_t axis = 0;
  ValueId count = kAbsent;  ///< int32 or int64 scalar
};

/// A graph is a value: copies are independent (constants share their elements).
///
/// Invariants, checked by Verify(): nodes are in an order in which every input is defined before it
/// is used; every value has one definition; names are unique; types are valid.
class Graph {
 public:
  std::string name;
  std::vector<ValueId> inputs;   ///< in the order of the model's inputs
  std::vector<ValueId> outputs;  ///< in the order of the model's outputs; may repeat a value
  /// What users call the outputs. Differs from the value's name when passes replace a value.
  std::vector<std::string> output_names;
  /// Of the outputs whose extent depends on data, at most one each, ascending by output.
  std::vector<OutputExtent> extents = {};
  std::vector<Node> nodes;

  const std::vector<Value>& values() const { return values_; }
  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }

  /// New value; `name` is made unique by a suffix when it is taken.
  ValueId AddValue(std::string_view name, TensorType type);
  ValueId AddConstant(std::string_view name, Tensor tensor);
  /// A node whose single output is a new value of that type, not yet in `nodes`: passes put it
  /// where it belongs.
  Node MakeNode(std::string_view op, std::vector<ValueId> inputs, TensorType type,
                Attributes attributes, std::string_view name);

  /// `name` or, when it is taken by a value or node, the first free of name_1, name_2, ...
  std::string UniqueName(std::string_view wanted);

  /// The constant of an input, or null when the input is absent or no constant.
  const Tensor* ConstantOf(ValueId id) const;

  /// Keeps the outputs at these positions, in this order; a position may repeat.
  void SelectOutputs(const std::vector<std::size_t>& positions);

  /// Makes every use of `from`, as an input of a node, an output of the graph or the count of one,
  /// a use of `to`.
  void ReplaceUses(ValueId from, ValueId to);

  /// Removes nodes none of whose outputs is used, then values that are no longer mentioned (graph
  /// inputs stay), and renumbers. Returns how many nodes went.
  int Compact();

 private:
  std::vector<Value> values_;
  std::unordered_set<std::string> names_;
};

/// One use of an operator. Inputs that determine shapes are attributes (see compiler/ops).
struct Node {
  std::string name;  ///< unique in the graph, never empty: what error messages call it
  std::string op;    ///< ONNX operator in its newest form, e.g. "Conv"
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
  /// The bodies of a control-flow node (see compiler/ir/control_flow.hpp). A region is closed: all
  /// it uses of the graph around it comes in through its inputs.
  std::vector<Graph> regions = {};
};

/// How often and by whom each value is used; a snapshot, not kept up to date.
class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// Positions in graph.nodes of the nodes that read the value, ascending, once for each use.
  const std::vector<std::int32_t>& consumers(ValueId id) const {
    return consumers_[static_cast<std::size_t>(id)];
  }
  /// Uses by nodes, as graph outputs and as counts of them.
  int count(ValueId id) const;
  /// Whether it is a graph output or the count of one.
  bool is_output(ValueId id) const { return output_uses_[static_cast<std::size_t>(id)] > 0; }
  /// Position of the node that defines the value, -1 for inputs and constants.
  std::int32_t producer(ValueId id) const { return producers_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<std::vector<std::int32_t>> consumers_;
  std::vector<int> output_uses_;
  std::vector<std::int32_t> producers_;
};

/// The first broken invariant, or nothing.
std::optional<std::string> Verify(const Graph& graph);

/// Text of the whole graph, for logs and tests: one line a node, constants as type only.
std::string ToString(const Graph& graph);

}  // namespace poprt::ir
