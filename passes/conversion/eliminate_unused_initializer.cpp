#include "passes/conversion/eliminate_unused_initializer.hpp"

namespace poprt::passes {
absl::Status EliminateUnusedInitializer(ir::Graph& graph, const PassContext&) {
  const ir::Uses uses(graph);
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    if (!graph.value(id).is_constant() || uses.count(id) > 0) continue;
    graph.Compact();
    break;
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
