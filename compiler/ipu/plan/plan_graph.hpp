#pragma once

#include "absl/status/statusor.h"
#include "compiler/ipu/plan/plan.hpp"
#include "compiler/ir/graph.hpp"

namespace poprt::ipu {

/// A graph of ONNX operators as priced supersteps on the compute tiles of the partition: every node
/// in its order, before them the load of the inputs ("HostLoad"), behind them the store of the
/// outputs ("HostStore"), by way of the I/O tiles when there are any. Tensors have the numbers of
/// the graph's values; host buffers on I/O tiles follow. TensorPlan::shared is left empty.
///
/// Deterministic. InvalidArgument names a node whose attributes have other types than its operator
/// allows; Internal says that a partition has no tiles to compute on.
absl::StatusOr<GraphPlan> PlanGraph(const ir::Graph& graph, const Target& target,
                                    const TilePartition& partition, const PlanOptions& options);

}  // namespace poprt::ipu
