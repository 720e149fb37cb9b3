#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/graph_builder.hpp"
#include "compiler/frontend/import_value.hpp"
#include "compiler/frontend/problems.hpp"

namespace poprt::frontend {

/// What one iteration of a loop leaves.
struct Iteration {
  ir::ValueId condition = ir::kAbsent;  ///< whether to go on, a bool scalar; absent: yes
  std::vector<ImportValue> carried;     ///< for the next iteration, or the result
  std::vector<ImportValue> slices;      ///< of the stacked results
};

/// A loop of any operator. The values are those of the graph that it stands in.
struct LoopForm {
  std::string name;
  /// "node 'a' (Loop, opset 13, inputs ...): ".
  std::string where;
  ir::ValueId trip_count = ir::kAbsent;  ///< an int64 scalar; absent: no bound
  ir::ValueId condition = ir::kAbsent;   ///< a bool scalar; absent: true
  std::vector<ImportValue> carried = {};
  std::size_t slices = 0;  ///< stacked results
  /// What messages and the graph call the carried values, and the results.
  std::vector<std::string> carried_names = {};
  std::vector<std::string> result_names = {};
  /// Adds one iteration to the graph of `builder`, whose values the arguments are. Nothing if there
  /// were problems.
  std::function<std::optional<Iteration>(
      GraphBuilder& builder, ir::ValueId iteration, ir::ValueId condition,
      const std::vector<ImportValue>& carried, Problems& problems)>
      body = {};
};

/// Adds the loop to the graph and gives its results, first the carried ones, then the stacked.
///
/// A loop that can be computed now leaves no nodes. Otherwise it becomes a node with a region, if
/// what it carries are tensors that keep their types. Failing that it is unrolled, if it is known
/// how often it runs. Nothing if there were problems.
std::optional<std::vector<ImportValue>> AddLoop(const LoopForm& form, GraphBuilder& builder,
                                                Problems& problems);

}  // namespace poprt::frontend
