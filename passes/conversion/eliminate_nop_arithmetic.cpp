#include "passes/conversion/eliminate_nop_arithmetic.hpp"

#include <cmath>
#include <optional>

#include "passes/constant_values.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool IsOne(const ir::Graph& graph, ir::ValueId id) { return UniformValue(graph, id) == 1.0; }

/// Zero of the sign that changes no float, not even -0.
bool IsZero(const ir::Graph& graph, ir::ValueId id, bool negative) {
  const std::optional<double> value = UniformValue(graph, id);
  if (value != 0.0) return false;
  return !IsFloat(graph.type(id).element) || std::signbit(*value) == negative;
}

bool IsNeutralOnTheRight(const ir::Graph& graph, const ir::Node& node) {
  const ir::ValueId right = node.inputs[1];
  if (node.op == "Add") return IsZero(graph, right, true);
  if (node.op == "Sub") return IsZero(graph, right, false);
  const bool has_one = node.op == "Mul" || node.op == "Div" || node.op == "Pow";
  return has_one && IsOne(graph, right);
}

bool IsNeutralOnTheLeft(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == "Add") return IsZero(graph, node.inputs[0], true);
  return node.op == "Mul" && IsOne(graph, node.inputs[0]);
}

}  // namespace

absl::Status EliminateNopArithmetic(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    if (node.inputs.size() != 2) return false;
    if (IsNeutralOnTheRight(rewriter.graph(), node)) return rewriter.Bypass(node, 0);
    return IsNeutralOnTheLeft(rewriter.graph(), node) && rewriter.Bypass(node, 1);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
