#include "passes/eliminate_duplicate_initializer.hpp"

#include <map>
#include <vector>

#include "passes/constant_pool.hpp"

namespace poprt::passes {
absl::Status EliminateDuplicateInitializer(ir::Graph& graph, const PassContext&) {
  ConstantPool pool;
  std::vector<ir::ValueId> first_with;
  std::map<ir::ValueId, ir::ValueId> replaced_by;
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    const Tensor* constant = graph.ConstantOf(id);
    if (constant == nullptr) continue;
    const std::size_t position = pool.Find(*constant);
    if (position == first_with.size()) {
      first_with.push_back(id);
    } else {
      replaced_by[id] = first_with[position];
    }
  }
  if (replaced_by.empty()) return absl::OkStatus();
  const auto replace = [&](std::vector<ir::ValueId>& ids) {
    for (ir::ValueId& id : ids) {
      if (const auto found = replaced_by.find(id); found != replaced_by.end()) id = found->second;
    }
  };
  for (ir::Node& node : graph.nodes) replace(node.inputs);
  replace(graph.outputs);
  graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
