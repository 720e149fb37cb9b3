#include "passes/conversion/add_checkpoints.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "passes/unknown_names.hpp"

namespace poprt::passes {

absl::Status AddCheckpoints(ir::Graph& graph, const PassContext& context) {
  if (context.checkpoints.empty()) return absl::OkStatus();
  std::map<std::string, ir::ValueId> ids;
  std::vector<std::string> names = graph.output_names;
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    ids[graph.value(id).name] = id;
    names.push_back(graph.value(id).name);
  }
  UnknownNames unknown(std::move(names));
  for (const std::string& name : context.checkpoints) {
    const bool is_output = std::ranges::find(graph.output_names, name) != graph.output_names.end();
    if (!unknown.Check(name) || is_output) continue;
    graph.outputs.push_back(ids.at(name));
    graph.output_names.push_back(name);
  }
  return unknown.ToStatus("model '" + graph.name + "' has no values named as checkpoints");
}

}  // namespace poprt::passes
