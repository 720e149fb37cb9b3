#include "passes/conversion/eliminate_duplicate_initializer.hpp"

#include <algorithm>
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
  const auto replace = [&](ir::ValueId& id) {
    if (const auto found = replaced_by.find(id); found != replaced_by.end()) id = found->second;
  };
  for (ir::Node& node : graph.nodes) std::ranges::for_each(node.inputs, replace);
  std::ranges::for_each(graph.outputs, replace);
  for (ir::OutputExtent& extent : graph.extents) replace(extent.count);
  graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
