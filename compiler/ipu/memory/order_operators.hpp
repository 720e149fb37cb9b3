#pragma once

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Puts the operators of a graph in the order in which the tiles need the least memory that is
/// known: the given one, or that of a list scheduler which always takes the operator that is ready
/// and leaves the fewest bytes live (ir::ListSchedule). An order is better when its fullest tile
/// needs less, or as much and all tiles together need less. Transfers from and to the host stay
/// first and last, stages of a pipeline in their order. Corrects `first` and `last` of the tensors
/// and `outlined` of the operators. The same graph gives the same order.
void OrderOperators(GraphPlan& graph);

}  // namespace poprt::ipu
