#include "passes/conversion/eliminate_deadend.hpp"

namespace poprt::passes {
absl::Status EliminateDeadend(ir::Graph& graph, const PassContext&) {
  graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
