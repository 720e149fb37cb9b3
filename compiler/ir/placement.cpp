#include "compiler/ir/placement.hpp"

#include <stdexcept>
#include <string>

namespace poprt::ir {
namespace {

std::optional<std::uint32_t> NumberOf(const Attributes& attributes, std::string_view name) {
  if (!attributes.has(name)) return std::nullopt;
  const std::int64_t number = attributes.get_int(name, 0);
  if (number < 0 || number > kMostPlacement) {
    throw std::invalid_argument("attribute '" + std::string(name) + "' is " +
                                std::to_string(number) + ", allowed are 0 to " +
                                std::to_string(kMostPlacement));
  }
  return static_cast<std::uint32_t>(number);
}

}  // namespace

bool IsPlacement(std::string_view attribute) {
  return attribute == kIpuNumber || attribute == kPipelineStage;
}

Placement PlacementOf(const Attributes& attributes) {
  return {.ipu = NumberOf(attributes, kIpuNumber), .stage = NumberOf(attributes, kPipelineStage)};
}

void SetPlacement(Attributes& attributes, const Placement& placement) {
  if (placement.ipu) attributes.set(kIpuNumber, std::int64_t{*placement.ipu});
  if (placement.stage) attributes.set(kPipelineStage, std::int64_t{*placement.stage});
}

void PlaceIfUnplaced(Node& node, const Placement& placement) {
  if (placement.empty() || !PlacementOf(node.attributes).empty()) return;
  SetPlacement(node.attributes, placement);
}

void RemovePlacements(Graph& graph) {
  for (Node& node : graph.nodes) {
    node.attributes.erase(kIpuNumber);
    node.attributes.erase(kPipelineStage);
    for (Graph& region : node.regions) RemovePlacements(region);
  }
}

}  // namespace poprt::ir
