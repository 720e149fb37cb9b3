#include "compiler/ipu/plan/region_plan.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ir/placement.hpp"

namespace poprt::ipu {
namespace {

std::size_t Index(ir::ValueId id) { return static_cast<std::size_t>(id); }

/// Walks over the nodes of one graph.
class RegionPlanner {
 public:
  RegionPlanner(const ir::Graph& graph, const std::vector<Placed>& inputs, StepBuilder& around)
      : graph_(graph), around_(around), uses_(graph), placed_(graph.values().size()) {
    root_.resize(placed_.size());
    last_use_.resize(placed_.size());
    plan_.tensors.resize(placed_.size());
    AddValues(inputs);
  }

  RegionPlan Plan() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) AddNode(i);
    for (const ir::ValueId id : graph_.outputs) plan_.outputs.push_back(placed_[Index(id)]);
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      plan_.tensors[i].mapping = placed_[i].layout.mapping;
    }
    return std::move(plan_);
  }

 private:
  void AddValues(const std::vector<Placed>& inputs) {
    const std::size_t end = graph_.nodes.empty() ? 0 : graph_.nodes.size() - 1;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const auto id = static_cast<ir::ValueId>(i);
      const ir::Value& value = graph_.value(id);
      root_[i] = i;
      const auto& consumers = uses_.consumers(id);
      last_use_[i] = consumers.empty() ? 0 : static_cast<std::size_t>(consumers.back());
      if (uses_.is_output(id)) last_use_[i] = kNever;
      TensorPlan& tensor = plan_.tensors[i];
      tensor.name = value.name;
      tensor.kind = value.is_constant() ? TensorKind::kConstant : TensorKind::kActivation;
      tensor.bytes = DeviceBytes(value.type);
      tensor.element_type = value.type.element;
      tensor.first = uses_.producer(id) < 0 ? 0 : static_cast<std::size_t>(uses_.producer(id));
      tensor.last = std::max(tensor.first, std::min(last_use_[i], end));
      placed_[i].type = value.type;
      placed_[i].constant = value.is_constant();
      placed_[i].layout = LinearLayout(around_.target(), around_.tiles(), value.type);
    }
    for (std::size_t i = 0; i < std::min(inputs.size(), graph_.inputs.size()); ++i) {
      const std::size_t id = Index(graph_.inputs[i]);
      placed_[id].layout = inputs[i].layout;
      placed_[id].constant = inputs[i].constant;
      last_use_[id] = kNever;  // somebody else's memory
    }
  }

  void AddNode(std::size_t position) {
    const ir::Node& node = graph_.nodes[position];
    StepBuilder steps(around_.target(), around_.options(), around_.tiles(), around_.planner());
    Operation operation(node, Inputs(node, position), Outputs(node), steps);
    operation.trip_count = TripCount(node);
    try {
      IsEmpty(operation) ? FillOutputs(operation) : FindExpandRule(node.op)(operation);
    } catch (const std::exception& error) {
      throw std::invalid_argument("node '" + node.name + "' (" + node.op + "): " + error.what());
    }
    PlaceConstants(operation);
    PlaceOutputs(operation, position);
    plan_.keys.push_back(KeyOf(operation));
    plan_.operators.push_back(Describe(operation, steps));
    for (std::string& note : steps.TakeNotes()) {
      plan_.notes.push_back("node '" + node.name + "': " + note);
    }
  }

  /// Whether it reads or makes a tensor without elements: no rule has to mind that.
  static bool IsEmpty(const Operation& operation) {
    for (std::size_t i = 0; i < operation.input_count(); ++i) {
      if (operation.has_input(i) && Elements(operation.input(i).type) == 0) return true;
    }
    for (std::size_t i = 0; i < operation.output_count(); ++i) {
      if (operation.has_output(i) && Elements(operation.output_type(i)) == 0) return true;
    }
    return false;
  }

  static void FillOutputs(Operation& operation) {
    for (std::size_t i = 0; i < operation.output_count(); ++i) {
      if (!operation.has_output(i)) continue;
      operation.SetOutput(i, AddFill(operation.steps(), "fill", operation.output_type(i)));
    }
  }

  std::vector<Placed> Inputs(const ir::Node& node, std::size_t position) const {
    std::vector<Placed> inputs;
    for (const ir::ValueId id : node.inputs) {
      Placed input;
      if (id != ir::kAbsent) {
        input = placed_[Index(id)];
        // In the memory of a value that nobody reads later, by whatever name.
        input.overwrite = !input.constant && last_use_[root_[Index(id)]] <= position;
      }
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  std::vector<TensorType> Outputs(const ir::Node& node) const {
    std::vector<TensorType> types;
    for (const ir::ValueId id : node.outputs) {
      types.push_back(id == ir::kAbsent ? TensorType{} : graph_.type(id));
    }
    return types;
  }

  std::optional<std::uint64_t> TripCount(const ir::Node& node) const {
    const Tensor* count = node.inputs.empty() ? nullptr : graph_.ConstantOf(node.inputs[0]);
    if (count == nullptr || count->count() != 1) return std::nullopt;
    if (count->element() == ElementType::kInt64) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(count->as<std::int64_t>()[0], 0));
    }
    if (count->element() == ElementType::kInt32) {
      return static_cast<std::uint64_t>(std::max<std::int32_t>(count->as<std::int32_t>()[0], 0));
    }
    return std::nullopt;
  }

  /// The first reader decides: poplibs makes weights by the plan of the product that uses them.
  void PlaceConstants(const Operation& operation) {
    const ir::Node& node = operation.node();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<Layout>& placement = operation.placement(i);
      if (node.inputs[i] == ir::kAbsent || !placement) continue;
      const std::size_t id = Index(node.inputs[i]);
      if (!placed_[id].constant || placed_by_plan_.contains(id)) continue;
      placed_by_plan_.insert(id);
      placed_[id].layout = *placement;
    }
  }

  void PlaceOutputs(const Operation& operation, std::size_t position) {
    const ir::Node& node = operation.node();
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == ir::kAbsent) continue;
      const std::size_t id = Index(node.outputs[i]);
      Placed placed = operation.output(i);
      const bool set = placed.layout.mapping.tiles.count > 0;
      if (set) placed_[id].layout = placed.layout;
      placed_[id].constant = set && placed.constant;
      if (set && placed.origin && *placed.origin < node.inputs.size()) {
        Share(id, Index(node.inputs[*placed.origin]));
      }
      plan_.tensors[id].first = position;
    }
  }

  void Share(std::size_t id, std::size_t with) {
    const std::size_t root = root_[with];
    root_[id] = root;
    last_use_[root] = std::max(last_use_[root], last_use_[id]);
    plan_.tensors[id].storage = static_cast<TensorIndex>(root);
  }

  OperatorPlan Describe(Operation& operation, StepBuilder& steps) const {
    const ir::Node& node = operation.node();
    OperatorPlan op;
    op.name = node.name;
    op.op = node.op;
    op.flops = operation.flops;
    op.grid = operation.grid;
    const ir::Placement placement = ir::PlacementOf(node.attributes);
    op.ipu = placement.ipu.value_or(0);
    op.stage = placement.stage.value_or(0);
    for (const ir::ValueId id : node.inputs) {
      if (id != ir::kAbsent) op.inputs.push_back(static_cast<TensorIndex>(id));
    }
    for (const ir::ValueId id : node.outputs) {
      if (id != ir::kAbsent) op.outputs.push_back(static_cast<TensorIndex>(id));
    }
    op.steps = steps.TakeSteps();
    return op;
  }

  /// Operator, types and places of the operands, attributes; constants by their type alone.
  std::string KeyOf(const Operation& operation) const {
    const ir::Node& node = operation.node();
    std::string key = node.op;
    for (const ir::ValueId id : node.inputs) {
      if (id == ir::kAbsent) {
        key += "|-";
        continue;
      }
      const Placed& placed = placed_[Index(id)];
      key += "|" + ToString(placed.type);
      key += placed.constant ? "c" : "@" + std::to_string(placed.layout.signature);
    }
    for (const Attributes::Entry& entry : node.attributes.entries()) key += "|" + ToString(entry);
    // Bodies differ in ways that no attribute shows.
    if (!node.regions.empty()) key += "|" + node.name;
    return key;
  }

  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  const ir::Graph& graph_;
  StepBuilder& around_;
  ir::Uses uses_;
  std::vector<Placed> placed_;            ///< by value
  std::vector<std::size_t> root_;         ///< the value in whose memory a value is
  std::vector<std::size_t> last_use_;     ///< of a root: by all values in its memory
  std::set<std::size_t> placed_by_plan_;  ///< constants that a reader has placed
  RegionPlan plan_;
};

}  // namespace

std::uint64_t RegionPlan::cycles() const {
  std::uint64_t sum = 0;
  for (const OperatorPlan& op : operators) sum += op.cycles();
  return sum;
}

std::uint64_t RegionPlan::flops() const {
  std::uint64_t sum = 0;
  for (const OperatorPlan& op : operators) sum += op.flops;
  return sum;
}

std::uint64_t RegionPlan::PeakBytes() const {
  std::vector<std::uint64_t> starts(operators.size() + 1, 0);
  std::vector<std::uint64_t> ends(operators.size() + 1, 0);
  std::uint64_t constants = 0;
  for (const TensorPlan& tensor : tensors) {
    if (tensor.storage) continue;
    if (tensor.always_live()) {
      constants += tensor.mapping.bytes_per_tile;
    } else {
      starts[std::min(tensor.first, operators.size())] += tensor.mapping.bytes_per_tile;
      ends[std::min(tensor.last, operators.size())] += tensor.mapping.bytes_per_tile;
    }
  }
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  for (std::size_t i = 0; i <= operators.size(); ++i) {
    live += starts[i];
    peak = std::max(peak, live);
    live -= ends[i];
  }
  return constants + peak;
}

RegionPlan PlanRegion(const ir::Graph& graph, const std::vector<Placed>& inputs,
                      StepBuilder& around) {
  return RegionPlanner(graph, inputs, around).Plan();
}

}  // namespace poprt::ipu
