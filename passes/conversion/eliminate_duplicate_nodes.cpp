#include "passes/conversion/eliminate_duplicate_nodes.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool DrawsRandomNumbers(std::string_view op) {
  return op.starts_with("Random") || op == "Multinomial" || op == "Bernoulli";
}

/// For nodes of the same operator and inputs: the later one asks for nothing else.
bool SameResults(const ir::Graph& graph, const ir::Node& a, const ir::Node& b) {
  if (a.attributes != b.attributes || a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if (b.outputs[i] == ir::kAbsent) continue;
    if (a.outputs[i] == ir::kAbsent) return false;
    if (graph.type(a.outputs[i]) != graph.type(b.outputs[i])) return false;
  }
  return true;
}

}  // namespace

absl::Status EliminateDuplicateNodes(ir::Graph& graph, const PassContext&) {
  std::map<std::pair<std::string, std::vector<ir::ValueId>>, std::vector<const ir::Node*>> known;
  const auto merge = [&](Rewriter& rewriter, const ir::Node& node) {
    if (DrawsRandomNumbers(node.op) || !node.regions.empty()) return false;
    std::vector<const ir::Node*>& candidates = known[{node.op, node.inputs}];
    for (const ir::Node* candidate : candidates) {
      if (!SameResults(graph, *candidate, node)) continue;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != ir::kAbsent) {
          rewriter.Forward(node.outputs[i], candidate->outputs[i]);
        }
      }
      return true;
    }
    candidates.push_back(&node);
    return false;
  };
  if (Rewriter(graph).Sweep(merge)) graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
