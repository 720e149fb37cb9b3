#include "passes/fuse_models.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/constant_pool.hpp"

namespace poprt::passes {
namespace {

bool IsPrefix(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

/// "graph<i>" where users gave no name.
absl::StatusOr<std::vector<std::string>> CompleteNames(std::size_t count,
                                                       const std::vector<std::string>& given) {
  if (given.size() != count) {
    return absl::InvalidArgumentError(std::to_string(count) + " models have " +
                                      std::to_string(given.size()) +
                                      " names; give a name or an empty string for each");
  }
  std::vector<std::string> names;
  std::vector<std::string> problems;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(given[i].empty() ? "graph" + std::to_string(i) : given[i]);
    const std::string subject = absl::StrCat("model ", i, ": name '", names[i], "' ");
    if (!IsPrefix(names[i])) {
      problems.push_back(subject + "may only have letters, digits, '_', '-' and '.'");
    }
    if (!taken.insert(names[i]).second) {
      problems.push_back(subject + "belongs to an earlier model; names must differ");
    }
  }
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  return names;
}

/// The graph again, everything called <prefix>/<name>.
ir::Graph Prefixed(ir::Graph graph, const std::string& prefix) {
  ir::Graph result;
  result.name = graph.name;
  for (const ir::Value& value : graph.values()) {
    const ir::ValueId id = result.AddValue(absl::StrCat(prefix, "/", value.name), value.type);
    result.value(id).constant = value.constant;
  }
  for (ir::Node& node : graph.nodes) {
    node.name = result.UniqueName(absl::StrCat(prefix, "/", node.name));
    for (ir::Graph& region : node.regions) region = Prefixed(std::move(region), prefix);
    result.nodes.push_back(std::move(node));
  }
  result.inputs = graph.inputs;
  result.outputs = graph.outputs;
  result.extents = graph.extents;
  for (const std::string& name : graph.output_names) {
    result.output_names.push_back(absl::StrCat(prefix, "/", name));
  }
  return result;
}

/// Makes the constants of the graph and its regions those of the pool. Returns their bytes.
std::uint64_t ShareConstants(ir::Graph& graph, ConstantPool& pool) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    ir::Value& value = graph.value(static_cast<ir::ValueId>(i));
    if (!value.is_constant()) continue;
    bytes += value.constant->bytes();
    value.constant = pool.tensor(pool.Find(*value.constant));
  }
  for (ir::Node& node : graph.nodes) {
    for (ir::Graph& region : node.regions) bytes += ShareConstants(region, pool);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<FusedModel> FuseModels(std::vector<ir::Graph> graphs,
                                      const std::vector<std::string>& names) {
  absl::StatusOr<std::vector<std::string>> complete = CompleteNames(graphs.size(), names);
  if (!complete.ok()) return complete.status();

  FusedModel fused{.graphs = {}, .names = *std::move(complete)};
  ConstantPool pool;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    ir::Graph graph = Prefixed(std::move(graphs[g]), fused.names[g]);
    fused.constant_bytes_before += ShareConstants(graph, pool);
    fused.graphs.push_back(std::move(graph));
  }
  for (std::size_t i = 0; i < pool.size(); ++i) {
    fused.constant_bytes_after += pool.tensor(i).bytes();
  }
  return fused;
}

}  // namespace poprt::passes
