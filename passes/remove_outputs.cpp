#include "passes/remove_outputs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "passes/unknown_names.hpp"

namespace poprt::passes {

absl::Status RemoveOutputs(ir::Graph& graph, const PassContext& context) {
  if (context.remove_outputs.empty()) return absl::OkStatus();
  UnknownNames unknown(graph.output_names);
  for (const std::string& name : context.remove_outputs) unknown.Check(name);
  absl::Status known =
      unknown.ToStatus("model '" + graph.name + "' has no outputs to remove named");
  if (!known.ok()) return known;

  std::vector<ir::ValueId> outputs;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& name = graph.output_names[i];
    const auto& removed = context.remove_outputs;
    if (std::ranges::find(removed, name) != removed.end()) continue;
    outputs.push_back(graph.outputs[i]);
    names.push_back(name);
  }
  if (outputs.empty()) {
    return absl::InvalidArgumentError("model '" + graph.name +
                                      "': remove_outputs names every output; keep at least one");
  }
  graph.outputs = std::move(outputs);
  graph.output_names = std::move(names);
  graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
