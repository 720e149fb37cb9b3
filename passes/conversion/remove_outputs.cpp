#include "passes/conversion/remove_outputs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "passes/unknown_names.hpp"

namespace poprt::passes {

absl::Status RemoveOutputs(ir::Graph& graph, const PassContext& context) {
  if (context.remove_outputs.empty()) return absl::OkStatus();
  UnknownNames unknown(graph.output_names);
  for (const std::string& name : context.remove_outputs) unknown.Check(name);
  absl::Status known =
      unknown.ToStatus("model '" + graph.name + "' has no outputs to remove named");
  if (!known.ok()) return known;

  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto& removed = context.remove_outputs;
    if (std::ranges::find(removed, graph.output_names[i]) == removed.end()) kept.push_back(i);
  }
  if (kept.empty()) {
    return absl::InvalidArgumentError("model '" + graph.name +
                                      "': remove_outputs names every output; keep at least one");
  }
  graph.SelectOutputs(kept);
  graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
