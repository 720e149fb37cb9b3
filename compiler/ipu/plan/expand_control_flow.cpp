#include <algorithm>

#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/region_plan.hpp"
#include "compiler/ir/control_flow.hpp"

/// If and Loop: their bodies are priced where they stand.
namespace poprt::ipu {
namespace {

/// Trips of a loop of which nothing is known but its condition.
constexpr std::uint64_t kUnknownTrips = 1;

/// Where the inputs of a region are: where those of the node are, and linear for those that the
/// loop makes.
std::vector<Placed> RegionInputs(Operation& operation, const ir::Graph& body) {
  const ir::Node& node = operation.node();
  StepBuilder& steps = operation.steps();
  std::vector<Placed> inputs(body.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].type = body.type(body.inputs[i]);
    inputs[i].layout = LinearLayout(steps.target(), steps.tiles(), inputs[i].type);
  }
  const std::size_t first = node.op == "If" ? 1 : ir::kLoopControls;
  for (std::size_t i = first; i < operation.input_count(); ++i) {
    const std::size_t position = ir::RegionInput(node, i);
    if (!operation.has_input(i) || position >= inputs.size()) continue;
    inputs[position].layout = operation.input(i).layout;
    inputs[position].constant = operation.input(i).constant;
  }
  return inputs;
}

/// The steps of the region as the operator's own; what it has in memory are temporaries.
void AddRegion(Operation& operation, const RegionPlan& plan) {
  StepBuilder& steps = operation.steps();
  steps.Hold(plan.PeakBytes());
  for (const OperatorPlan& op : plan.operators) steps.Append(op.steps);
  for (const std::string& note : plan.notes) steps.Note(note);
}

void SetOutput(Operation& operation, std::size_t i, const RegionPlan& plan, std::size_t result) {
  if (!operation.has_output(i) || result >= plan.outputs.size()) return;
  Placed placed = plan.outputs[result];
  placed.type = operation.output_type(i);
  placed.origin = std::nullopt;
  placed.overwrite = true;
  operation.SetOutput(i, placed);
}

/// The branch that takes longer.
void ExpandIf(Operation& operation) {
  RegionPlan longest;
  for (std::size_t i = 0; i < operation.node().regions.size(); ++i) {
    const ir::Graph& body = operation.node().regions[i];
    RegionPlan plan = PlanRegion(body, RegionInputs(operation, body), operation.steps());
    if (i == 0 || plan.cycles() > longest.cycles()) longest = std::move(plan);
  }
  AddRegion(operation, longest);
  operation.flops = longest.flops();
  for (std::size_t i = 0; i < operation.output_count(); ++i) SetOutput(operation, i, longest, i);
}

/// Known when results are stacked: one slice a trip. Else the trip count, if it is a constant.
std::uint64_t Trips(const Operation& operation) {
  const std::size_t carried = ir::NumCarried(operation.node());
  for (std::size_t i = carried; i < operation.output_count(); ++i) {
    if (operation.has_output(i) && !operation.output_type(i).shape.empty()) {
      return static_cast<std::uint64_t>(
          std::max<std::int64_t>(operation.output_type(i).shape[0], 0));
    }
  }
  if (operation.trip_count) return *operation.trip_count;
  return kUnknownTrips;
}

void ExpandLoop(Operation& operation) {
  const ir::Graph& body = operation.node().regions[0];
  StepBuilder& steps = operation.steps();
  const RegionPlan plan = PlanRegion(body, RegionInputs(operation, body), steps);
  const std::uint64_t trips = Trips(operation);
  {
    const RepeatScope repeat(steps, trips);
    steps.Compute({.name = "count trips",
                   .vertex = "popops::LoopCounter",
                   .tiles = {steps.tiles().first, 1},
                   .vertex_cycles = kRepeatIterationCycles});
    AddRegion(operation, plan);
  }
  operation.flops = trips * plan.flops();
  const std::size_t carried = ir::NumCarried(operation.node());
  for (std::size_t i = 0; i < std::min(carried, operation.output_count()); ++i) {
    SetOutput(operation, i, plan, i + 1);
  }
  for (std::size_t i = carried; i < operation.output_count(); ++i) {
    if (!operation.has_output(i)) continue;
    const TensorType& type = operation.output_type(i);
    const Layout layout = LinearLayout(steps.target(), steps.tiles(), type);
    const RepeatScope repeat(steps, trips);
    const std::uint64_t slice = layout.mapping.bytes_per_tile / std::max<std::uint64_t>(trips, 1);
    steps.Copy("stack slice", layout.mapping.tiles, std::max(slice, ElementBytes(type.element)),
               steps.target().vector_bytes);
    operation.SetOutput(i, {type, layout, false, true});
  }
}

constexpr ExpandRow kRows[] = {{"If", ExpandIf}, {"Loop", ExpandLoop}};

}  // namespace

std::span<const ExpandRow> ControlFlowRules() { return kRows; }

}  // namespace poprt::ipu
