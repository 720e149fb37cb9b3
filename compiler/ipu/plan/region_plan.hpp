#pragma once

#include <string>
#include <vector>

#include "compiler/ipu/plan/operation.hpp"

namespace poprt::ipu {

/// A graph, or the body of a control-flow node, as operators without the host.
struct RegionPlan {
  std::vector<TensorPlan> tensors = {};  ///< of every value of the graph, by its number
  std::vector<OperatorPlan> operators = {};
  /// What an operator is: equal for those that can run the same code (section 6, outlining).
  std::vector<std::string> keys = {};
  std::vector<Placed> outputs = {};  ///< in the order of the graph's outputs
  std::vector<std::string> notes = {};

  std::uint64_t cycles() const;
  std::uint64_t flops() const;
  /// Bytes on a tile of what the region makes and of its constants, where they are most; each
  /// counts where it lies as if all tiles had as much.
  std::uint64_t PeakBytes() const;
};

/// Expands the nodes of a graph in their order. `inputs` say where its inputs lie; target, options
/// and tiles are those of `around`. Throws what attributes of another type than expected throw.
RegionPlan PlanRegion(const ir::Graph& graph, const std::vector<Placed>& inputs,
                      StepBuilder& around);

}  // namespace poprt::ipu
