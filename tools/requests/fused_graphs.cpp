#include "tools/requests/fused_graphs.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/program/container_names.hpp"

namespace poprt::requests {

std::vector<std::string> GraphsOf(const Executable& executable) {
  try {
    const auto blob = nlohmann::json::parse(executable.getOpaqueBlobs().at(program::kFusionBlob));
    std::vector<std::string> names;
    for (const auto& graph : blob.at("graphs")) names.push_back(graph.at("name"));
    return names;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("the opaque blob '") + program::kFusionBlob +
                             "' is damaged: " + error.what());
  }
}

std::vector<runtime::DataDesc> TensorsOf(std::vector<runtime::DataDesc> descs,
                                         const std::string& graph) {
  if (graph.empty()) return descs;
  std::erase_if(descs,
                [&](const runtime::DataDesc& desc) { return !desc.name.starts_with(graph + "/"); });
  return descs;
}

}  // namespace poprt::requests
