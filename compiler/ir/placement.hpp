#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/graph.hpp"

namespace poprt::ir {

/// The attributes that say where a node runs: integers from 0 to kMostPlacement. Every operator may
/// have them, no operator computes by them.
inline constexpr std::string_view kIpuNumber = "__ipu_number";
inline constexpr std::string_view kPipelineStage = "__pipeline_stage";
inline constexpr std::int64_t kMostPlacement = 1023;

bool IsPlacement(std::string_view attribute);

/// Where a node runs, as far as it says so.
struct Placement {
  std::optional<std::uint32_t> ipu = {};
  std::optional<std::uint32_t> stage = {};  ///< of the pipeline

  bool empty() const { return !ipu && !stage; }
  bool operator==(const Placement&) const = default;
};

/// Throws std::invalid_argument for attributes of another type or out of range.
Placement PlacementOf(const Attributes& attributes);

/// Sets what `placement` says; the rest stays.
void SetPlacement(Attributes& attributes, const Placement& placement);

/// Gives a node that says nothing of where it runs that placement.
void PlaceIfUnplaced(Node& node, const Placement& placement);

/// Makes the nodes of the graph and of its regions say nothing of where they run.
void RemovePlacements(Graph& graph);

}  // namespace poprt::ir
