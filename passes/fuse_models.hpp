#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// Several models that share one container, one of which runs at a time: a Switch on `index`.
struct FusedModel {
  /// In the order of their index. Values and nodes are called <prefix>/<name>.
  std::vector<ir::Graph> graphs;
  /// "graph0", "graph1", ... or the names users gave; the same length as `graphs`.
  std::vector<std::string> names;
  /// Bytes of constants before and after equal ones became one.
  std::uint64_t constant_bytes_before = 0;
  std::uint64_t constant_bytes_after = 0;
};

/// before: resnet(x) -> y, mlp(x) -> y      after: graph0/x -> graph0/y | graph1/x -> graph1/y
///
/// Isolates names by graph and makes equal constants (same type and bytes, in whichever graph)
/// share one tensor. Graphs are otherwise untouched, so each computes exactly what it computes
/// alone. `names` holds a name or an empty string for each graph; duplicates and names that are no
/// valid prefix (letters, digits, '_', '-', '.') are InvalidArgument.
absl::StatusOr<FusedModel> FuseModels(std::vector<ir::Graph> graphs,
                                      const std::vector<std::string>& names);

}  // namespace poprt::passes
