#pragma once

#include "compiler/ipu/plan/plan.hpp"
#include "compiler/ir/graph.hpp"

namespace poprt::ipu {

/// Makes the nodes of a graph say in which stage of the pipeline they run, as the plan has it, and
/// nothing else about where. The plan is that of the graph after the patterns of the IPU: what a
/// pattern has taken up runs in the stage of what stands for it. If there is no pipeline, nodes say
/// nothing.
void SetPlannedStages(const GraphPlan& plan, ir::Graph& graph);

}  // namespace poprt::ipu
