#include "compiler/ipu/plan/place_nodes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/placement.hpp"

namespace poprt::ipu {
namespace {

/// Ordered by stage.
struct Place {
  std::uint32_t stage = 0;
  std::uint32_t ipu = 0;
  auto operator<=>(const Place&) const = default;
};

class NodePlacer {
 public:
  NodePlacer(ir::Graph& graph, std::uint32_t num_ipus, bool ipus_are_stages)
      : graph_(graph),
        num_ipus_(num_ipus),
        ipus_are_stages_(ipus_are_stages),
        makers_(graph.values().size()) {}

  absl::StatusOr<std::uint32_t> Run() {
    std::uint32_t ipus = 1;
    for (ir::Node& node : graph_.nodes) {
      const ir::Placement said = ir::PlacementOf(node.attributes);
      const Place from = PlaceOfInputs(node);
      const std::uint32_t stage = ipus_are_stages_ ? said.ipu.value_or(from.stage) : from.stage;
      const Place place{.stage = said.stage.value_or(stage), .ipu = said.ipu.value_or(from.ipu)};
      if (place.ipu >= num_ipus_) missing_[place.ipu].push_back(About(node));
      CheckInputs(node, place);
      CheckStage(node, place);
      ir::SetPlacement(node.attributes, {.ipu = place.ipu, .stage = place.stage});
      for (const ir::ValueId id : node.outputs) {
        if (id != ir::kAbsent) makers_[static_cast<std::size_t>(id)] = Maker{place, node.name};
      }
      ipus = std::max(ipus, place.ipu + 1);
    }
    ReportMissingIpus();
    // Without a pipeline all nodes are in stage 0, on whatever IPU.
    if (stages_.size() > 1) {
      for (const auto& [stage, problem] : split_) problems_.push_back(problem);
    }
    if (!problems_.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
    return ipus;
  }

 private:
  struct Maker {
    Place place;
    std::string node;
  };

  const Maker* MakerOf(ir::ValueId id) const {
    if (id == ir::kAbsent) return nullptr;
    const std::optional<Maker>& maker = makers_[static_cast<std::size_t>(id)];
    return maker ? &*maker : nullptr;
  }

  Place PlaceOfInputs(const ir::Node& node) const {
    Place last;
    for (const ir::ValueId id : node.inputs) {
      if (const Maker* maker = MakerOf(id)) last = std::max(last, maker->place);
    }
    return last;
  }

  std::string About(const ir::Node& node) const {
    return absl::StrCat(graph_.name, ": node '", node.name, "' (", node.op, ") ");
  }

  /// Each IPU that is missing is one problem, told with the first node on it.
  void ReportMissingIpus() {
    for (const auto& [ipu, nodes] : missing_) {
      const std::string others =
          nodes.size() > 1 ? absl::StrCat(" (and ", nodes.size() - 1, " more nodes)") : "";
      problems_.push_back(absl::StrCat(nodes.front(), "is placed on IPU ", ipu, others,
                                       ", num_ipus is ", num_ipus_, ": raise it to ", ipu + 1,
                                       " or place the node on a lower one"));
    }
  }

  void CheckInputs(const ir::Node& node, const Place& place) {
    for (const ir::ValueId id : node.inputs) {
      const Maker* maker = MakerOf(id);
      if (maker == nullptr || maker->place.stage <= place.stage) continue;
      problems_.push_back(absl::StrCat(About(node), "is in stage ", place.stage, " and reads '",
                                       graph_.value(id).name, "' of node '", maker->node,
                                       "' in stage ", maker->place.stage,
                                       ": no stage can read what a later one makes"));
    }
  }

  /// Notes the first node of each stage, and the first that does not agree with it.
  void CheckStage(const ir::Node& node, const Place& place) {
    const auto [first, is_new] = stages_.try_emplace(place.stage, Maker{place, node.name});
    if (is_new || first->second.place == place) return;
    split_.try_emplace(place.stage,
                       absl::StrCat(About(node), "is in stage ", place.stage, " on IPU ", place.ipu,
                                    ", node '", first->second.node, "' of the same stage on IPU ",
                                    first->second.place.ipu, ": a stage runs on one IPU"));
  }

  ir::Graph& graph_;
  std::uint32_t num_ipus_;
  bool ipus_are_stages_;
  std::vector<std::optional<Maker>> makers_;    ///< of every value
  std::map<std::uint32_t, Maker> stages_;       ///< first node of each
  std::map<std::uint32_t, std::string> split_;  ///< the problem of a stage on several IPUs
  std::map<std::uint32_t, std::vector<std::string>> missing_;  ///< nodes of IPUs there are not
  std::vector<std::string> problems_;
};

bool IsPlaced(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const ir::Node& node) {
    return !ir::PlacementOf(node.attributes).empty();
  });
}

}  // namespace

absl::StatusOr<std::uint32_t> PlaceNodes(ir::Graph& graph, std::uint32_t num_ipus,
                                         bool ipus_are_stages) {
  if (!IsPlaced(graph)) return 1;
  return NodePlacer(graph, num_ipus, ipus_are_stages).Run();
}

}  // namespace poprt::ipu
