#include "tools/popef_bench/prediction.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/program/container_names.hpp"

namespace poprt::bench {

std::vector<Prediction> PredictionsOf(const Executable& executable) {
  constexpr double milliseconds = 1e3;
  const auto blob = executable.getOpaqueBlobs().find(program::kIpuPlanBlob);
  if (blob == executable.getOpaqueBlobs().end()) return {};
  try {
    const auto plan = nlohmann::json::parse(blob->second);
    std::vector<Prediction> predictions;
    for (const auto& graph : plan.at("graphs")) {
      const auto& performance = graph.at("performance");
      predictions.push_back(
          {.graph = graph.at("name"),
           .platform = plan.at("target").at("platform").at("name"),
           .cycles = performance.at("compute_cycles"),
           .batch = performance.at("overlap_seconds").get<double>() * milliseconds,
           .latency = performance.at("latency_seconds").get<double>() * milliseconds,
           .samples_per_second = performance.at("throughput")});
    }
    return predictions;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("the opaque blob '") + program::kIpuPlanBlob +
                             "' is damaged: " + error.what());
  }
}

}  // namespace poprt::bench
