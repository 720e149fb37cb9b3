#include "compiler/ipu/plan/plan_graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "compiler/ipu/plan/host_steps.hpp"
#include "compiler/ipu/plan/outlining.hpp"
#include "compiler/ipu/plan/region_plan.hpp"

namespace poprt::ipu {
namespace {

/// Turns the region of a graph's nodes into the plan of the graph.
class GraphPlanner {
 public:
  GraphPlanner(const ir::Graph& graph, const Target& target, const TilePartition& partition,
               const PlanOptions& options)
      : graph_(graph),
        partition_(partition),
        options_(options),
        target_(target),
        planner_(target, options, partition.compute_tiles),
        steps_(target, options, {partition.io_tiles, partition.compute_tiles}, planner_),
        host_(steps_, partition) {}

  GraphPlan Plan() {
    RegionPlan region = PlanRegion(graph_, InputPlaces(), steps_);
    plan_.name = graph_.name;
    plan_.tensors = std::move(region.tensors);
    plan_.notes = std::move(region.notes);
    plan_.operators.resize(1);  // HostLoad
    for (OperatorPlan& op : region.operators) plan_.operators.push_back(std::move(op));
    plan_.operators.emplace_back();  // HostStore
    MakeRoom();
    AddLoad();
    AddStore();
    CountSamples();
    std::vector<std::string> keys = {""};
    for (std::string& key : region.keys) keys.push_back(std::move(key));
    keys.emplace_back();
    OutlineOperators(target_, options_, keys, plan_);
    return std::move(plan_);
  }

 private:
  std::vector<Placed> InputPlaces() const {
    std::vector<Placed> places;
    for (const ir::ValueId id : graph_.inputs) {
      places.push_back({graph_.type(id), LinearLayout(target_, steps_.tiles(), graph_.type(id))});
    }
    return places;
  }

  /// Operators have moved one up; outputs live until they are stored.
  void MakeRoom() {
    const std::size_t store = plan_.operators.size() - 1;
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      TensorPlan& tensor = plan_.tensors[i];
      if (!tensor.always_live() && ProducedByNode(i)) ++tensor.first;
      ++tensor.last;
      tensor.last = std::min(tensor.last, store);
    }
    for (const ir::ValueId id : graph_.inputs)
      plan_.tensors[static_cast<std::size_t>(id)].first = 0;
    for (const ir::ValueId id : graph_.outputs) {
      plan_.tensors[static_cast<std::size_t>(id)].last = store;
    }
  }

  bool ProducedByNode(std::size_t id) const {
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), static_cast<ir::ValueId>(id)) ==
           graph_.inputs.end();
  }

  /// The tensor in which the host writes or reads `tensor`: itself, or a buffer on I/O tiles.
  TensorIndex HostTensor(TensorIndex index, TensorKind kind, const char* suffix) {
    TensorPlan& tensor = plan_.tensors[index];
    if (partition_.io_tiles == 0) {
      if (!tensor.always_live()) tensor.kind = kind;
      return index;
    }
    TensorPlan buffer = tensor;
    buffer.name += suffix;
    buffer.kind = kind;
    buffer.storage = std::nullopt;
    buffer.mapping = host_.Buffer(tensor);
    const std::size_t at = kind == TensorKind::kInput ? 0 : plan_.operators.size() - 1;
    buffer.first = buffer.last = at;
    plan_.tensors.push_back(std::move(buffer));
    return static_cast<TensorIndex>(plan_.tensors.size() - 1);
  }

  std::vector<const TensorPlan*> Tensors(const std::vector<ir::ValueId>& ids) const {
    std::vector<const TensorPlan*> tensors;
    tensors.reserve(ids.size());
    for (const ir::ValueId id : ids) {
      tensors.push_back(&plan_.tensors[static_cast<std::size_t>(id)]);
    }
    return tensors;
  }

  void AddLoad() {
    OperatorPlan& load = plan_.operators.front();
    load.name = load.op = "HostLoad";
    host_.Load(Tensors(graph_.inputs));
    load.steps = steps_.TakeSteps();
    for (const ir::ValueId id : graph_.inputs) {
      const auto index = static_cast<TensorIndex>(id);
      plan_.input_bytes += plan_.tensors[index].bytes;
      const TensorIndex buffer = HostTensor(index, TensorKind::kInput, "/load");
      load.outputs.push_back(index);
      if (buffer != index) load.inputs.push_back(buffer);
    }
  }

  void AddStore() {
    OperatorPlan& store = plan_.operators.back();
    store.name = store.op = "HostStore";
    std::vector<ir::ValueId> ids = graph_.outputs;
    for (const ir::OutputExtent& extent : graph_.extents) ids.push_back(extent.count);
    host_.Store(Tensors(ids));
    store.steps = steps_.TakeSteps();
    for (const ir::ValueId id : ids) {
      const auto index = static_cast<TensorIndex>(id);
      plan_.output_bytes += plan_.tensors[index].bytes;
      plan_.tensors[index].last = plan_.operators.size() - 1;
      const TensorIndex buffer = HostTensor(index, TensorKind::kOutput, "/store");
      store.inputs.push_back(index);
      if (buffer != index) store.outputs.push_back(buffer);
    }
  }

  /// The first extent that most inputs and outputs have; of several that of the first input.
  void CountSamples() {
    std::vector<std::int64_t> extents;
    for (const auto* ids : {&graph_.inputs, &graph_.outputs}) {
      for (const ir::ValueId id : *ids) {
        const Shape& shape = graph_.type(id).shape;
        if (!shape.empty()) extents.push_back(shape[0]);
      }
    }
    std::ptrdiff_t most = 0;
    for (const std::int64_t extent : extents) {
      const auto count = std::count(extents.begin(), extents.end(), extent);
      if (count <= most) continue;
      most = count;
      plan_.samples = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    }
    plan_.same_first_axis =
        most > 0 && static_cast<std::size_t>(most) == graph_.inputs.size() + graph_.outputs.size();
  }

  const ir::Graph& graph_;
  const TilePartition partition_;
  const PlanOptions& options_;
  const Target& target_;
  ProductPlanner planner_;
  StepBuilder steps_;
  HostSteps host_;
  GraphPlan plan_;
};

}  // namespace

absl::StatusOr<GraphPlan> PlanGraph(const ir::Graph& graph, const Target& target,
                                    const TilePartition& partition, const PlanOptions& options) {
  if (partition.compute_tiles == 0) {
    return absl::InternalError("the partition of target '" + target.ipu_version +
                               "' has no tiles to compute on");
  }
  try {
    return GraphPlanner(graph, target, partition, options).Plan();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError("cannot plan graph '" + graph.name + "': " + error.what());
  }
}

}  // namespace poprt::ipu
