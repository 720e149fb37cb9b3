#include "compiler/ipu/report/report_json.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "compiler/ipu/report/graph_json.hpp"
#include "compiler/ipu/report/json_text.hpp"
#include "compiler/ipu/report/memory_json.hpp"
#include "compiler/ipu/report/plan_figures.hpp"
#include "compiler/ipu/report/summary_report.hpp"

namespace poprt::ipu {
namespace {

Json PlatformJson(const Platform& platform) {
  return {{"name", platform.name},
          {"clock_hz", platform.clock_hz},
          {"host_load_bytes_per_second", platform.host_load_bytes_per_second},
          {"host_store_bytes_per_second", platform.host_store_bytes_per_second},
          {"call_nanoseconds", platform.call_nanoseconds}};
}

Json TargetJson(const Plan& plan) {
  const Target& target = plan.target;
  return {{"ipu_version", target.ipu_version},
          {"architecture", target.architecture},
          {"ipus", plan.options.num_ipus},
          {"tiles_per_ipu", target.tiles},
          {"sram_bytes_per_tile", target.sram_bytes_per_tile},
          {"executable_bytes_per_tile", target.executable_bytes},
          {"platform", PlatformJson(plan.platform)}};
}

Json OptionsJson(const PlanOptions& options) {
  return {{"partials_type", options.half_partials ? "half" : "float"},
          {"available_memory_proportion", options.available_memory_proportion},
          {"use_128bit_conv_unit_load", options.use_128bit_conv_unit_load},
          {"enable_fast_reduce", options.enable_fast_reduce},
          {"enable_multi_stage_reduce", options.enable_multi_stage_reduce},
          {"enable_non_stable_softmax", options.enable_non_stable_softmax},
          {"enable_outlining", options.enable_outlining},
          {"outline_threshold", options.outline_threshold},
          {"batches_per_step", options.batches_per_step},
          {"num_ipus", options.num_ipus}};
}

Json CountsJson(const std::vector<GraphPlan>& graphs) {
  const Counts counts = CountsOf(graphs);
  return {{"vertices", counts.vertices},
          {"edges", counts.edges},
          {"variables", counts.variables},
          {"compute_sets", counts.compute_sets}};
}

Json VertexTypesJson(const std::vector<GraphPlan>& graphs) {
  Json table = EmptyTable({"vertex", "instances", "cycles", "state_bytes"});
  for (const VertexType& type : VertexTypesOf(graphs)) {
    table["rows"].push_back({type.name, type.instances, type.cycles, type.state_bytes});
  }
  return table;
}

Json Document(const Plan& plan) {
  GraphJson writer(plan);
  Json graphs = Json::array();
  for (std::size_t i = 0; i < plan.graphs.size(); ++i) graphs.push_back(writer.Graph(i));
  return {{"schema", kReportSchema},
          {"summary", SummaryReport(plan)},
          {"target", TargetJson(plan)},
          {"options", OptionsJson(plan.options)},
          {"partition",
           {{"io_tiles", plan.partition.io_tiles},
            {"compute_tiles", plan.partition.compute_tiles},
            {"overlaps", OverlapsTransfers(plan)},
            {"reason", plan.partition_reason}}},
          {"counts", CountsJson(plan.graphs)},
          {"memory", MemoryJson(plan.memory)},
          {"vertex_types", VertexTypesJson(plan.graphs)},
          {"graphs", std::move(graphs)},
          {"expansions", writer.Expansions()},
          {"layouts", writer.Layouts()}};
}

}  // namespace

std::string ReportJson(const Plan& plan) { return IndentedJsonText(Document(plan)) + "\n"; }

std::string CompactReportJson(const Plan& plan) { return JsonText(Document(plan)); }

}  // namespace poprt::ipu
