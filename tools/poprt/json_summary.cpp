#include "tools/poprt/json_summary.hpp"

#include <nlohmann/json.hpp>

#include "compiler/ipu/report/report_json.hpp"

namespace poprt::cli {
namespace {

using Json = nlohmann::ordered_json;

// Names in models may be any bytes; what is no UTF-8 is replaced.
std::string Text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json ToJson(const passes::PassRecord& pass) {
  return {{"name", pass.name},
          {"seconds", pass.seconds},
          {"changed", pass.changed},
          {"nodes_after", pass.nodes_after}};
}

Json ToJson(const driver::ModelReport& model) {
  Json passes = Json::array();
  for (const passes::PassRecord& pass : model.passes) passes.push_back(ToJson(pass));
  Json frozen = Json::array();
  for (const auto& [name, type] : model.frozen_inputs) {
    frozen.push_back({{"name", name}, {"type", type}});
  }
  return {{"name", model.name},
          {"path", model.path},
          {"opset", model.opset},
          {"frozen_inputs", std::move(frozen)},
          {"nodes_imported", model.nodes_imported},
          {"nodes", model.nodes},
          {"parameters", model.parameters},
          {"parameter_bytes", model.parameter_bytes},
          {"seconds", {{"import", model.import_seconds}, {"convert", model.convert_seconds}}},
          {"passes", std::move(passes)}};
}

Json ToJson(const driver::GraphReport& graph) {
  return {{"name", graph.name},
          {"steps", graph.steps},
          {"weight_bytes", graph.weight_bytes},
          {"weight_bytes_saved", graph.weight_bytes_saved},
          {"arena_bytes", graph.arena_bytes},
          {"arena_bytes_saved", graph.arena_bytes_saved},
          {"variable_bytes", graph.variable_bytes}};
}

Json ToJson(const driver::CompileReport& report) {
  Json graphs = Json::array();
  for (const driver::GraphReport& graph : report.graphs) graphs.push_back(ToJson(graph));
  return {{"graphs", std::move(graphs)},
          {"weight_bytes", report.weight_bytes},
          {"weight_bytes_saved", report.weight_bytes_shared},
          {"arena_bytes", report.arena_bytes},
          {"arena_bytes_saved", report.arena_bytes_shared},
          {"variable_bytes", report.variable_bytes},
          {"container_bytes", report.container_bytes},
          {"seconds",
           {{"ipu", report.ipu_seconds},
            {"lower", report.lower_seconds},
            {"plan", report.plan_seconds},
            {"write", report.emit_seconds}}}};
}

Json ToJson(const tuner::TuningReport& report) {
  Json choices = Json::array();
  for (const tuner::TunedChoice& choice : report.choices) {
    choices.push_back({{"what", choice.what},
                       {"uses", choice.uses},
                       {"measured", choice.measured},
                       {"cost_table", choice.expected},
                       {"chosen", choice.chosen},
                       {"cost_table_us", choice.expected_us},
                       {"chosen_us", choice.chosen_us},
                       {"gain_us", choice.GainMicroseconds()}});
  }
  return {{"processor", report.machine.processor},
          {"threads", report.machine.threads},
          {"choices", std::move(choices)},
          {"gain_us", report.GainMicroseconds()}};
}

Json ToJson(const RunReport& run) {
  return {{"graph", run.graph},
          {"batch_size", run.batch_size},
          {"iterations", run.iterations},
          {"latency_ms", run.latency_ms},
          {"throughput", run.throughput}};
}

Json ToJson(const std::vector<DeclaredTensor>& tensors) {
  Json array = Json::array();
  for (const DeclaredTensor& tensor : tensors) {
    Json shape = Json::array();
    for (const Dimension& dimension : tensor.dimensions) {
      std::visit([&](const auto& extent) { shape.push_back(extent); }, dimension);
    }
    Json object = {{"name", tensor.name},
                   {"dtype", tensor.element_type},
                   {"shape", tensor.has_shape ? std::move(shape) : Json(nullptr)}};
    if (!tensor.frozen_file.empty()) object["frozen"] = tensor.frozen_file;
    array.push_back(std::move(object));
  }
  return array;
}

Json ToJson(const ipu::Plan& plan) {
  Json graphs = Json::array();
  for (std::size_t i = 0; i < plan.graphs.size(); ++i) {
    const ipu::Performance& performance = plan.performance[i];
    graphs.push_back({{"name", plan.graphs[i].name},
                      {"samples", plan.graphs[i].samples},
                      {"cycles", performance.compute_cycles},
                      {"batch_seconds", performance.overlap_seconds},
                      {"batch_seconds_without_overlap", performance.serial_seconds},
                      {"latency_seconds", performance.latency_seconds},
                      {"throughput", performance.throughput},
                      {"input_bytes", plan.graphs[i].input_bytes},
                      {"output_bytes", plan.graphs[i].output_bytes}});
  }
  return {{"ipu_version", plan.target.ipu_version},
          {"platform", plan.platform.name},
          {"io_tiles", plan.partition.io_tiles},
          {"compute_tiles", plan.partition.compute_tiles},
          {"fullest_tile_bytes", plan.memory.fullest_tile()},
          {"tile_bytes", plan.target.sram_bytes_per_tile},
          {"tiles_out_of_memory", plan.memory.overflowing.size()},
          {"graphs", std::move(graphs)}};
}

// Every phase, summed over models.
Json Seconds(const Outcome& outcome) {
  double import_seconds = 0;
  double convert_seconds = 0;
  for (const driver::ModelReport& model : outcome.models) {
    import_seconds += model.import_seconds;
    convert_seconds += model.convert_seconds;
  }
  Json seconds = {{"import", import_seconds},
                  {"convert", convert_seconds},
                  {"fuse", outcome.fuse_seconds},
                  {"onnx", outcome.onnx_seconds}};
  if (outcome.compiled) {
    seconds["ipu"] = outcome.compiled->ipu_seconds;
    seconds["lower"] = outcome.compiled->lower_seconds;
    seconds["plan"] = outcome.compiled->plan_seconds;
    seconds["write"] = outcome.compiled->emit_seconds;
  }
  return seconds;
}

}  // namespace

std::string JsonSummary(const Outcome& outcome) {
  Json models = Json::array();
  for (const driver::ModelReport& model : outcome.models) models.push_back(ToJson(model));
  Json json = {{"status", "ok"},
               {"convert_version", outcome.convert_version},
               {"models", std::move(models)}};
  if (outcome.fused) {
    json["fusion"] = {
        {"constant_bytes_before", outcome.constant_bytes_before},
        {"constant_bytes_after", outcome.constant_bytes_after},
        {"constant_bytes_saved", outcome.constant_bytes_before - outcome.constant_bytes_after}};
  }
  if (outcome.compiled) json["compile"] = ToJson(*outcome.compiled);
  if (outcome.ipu) json["ipu"] = ToJson(*outcome.ipu);
  if (outcome.report) json["report"] = Json::parse(ipu::CompactReportJson(*outcome.ipu));
  if (outcome.tuning) json["perf_tuner"] = ToJson(*outcome.tuning);
  if (!outcome.runs.empty()) {
    json["run"] = Json::array();
    for (const RunReport& run : outcome.runs) json["run"].push_back(ToJson(run));
  }
  json["seconds"] = Seconds(outcome);
  json["total_seconds"] = outcome.total_seconds;
  json["warnings"] = outcome.warnings;
  json["files"] = Json::array();
  for (const WrittenFile& file : outcome.files) {
    json["files"].push_back({{"kind", file.kind}, {"path", file.path}, {"bytes", file.bytes}});
  }
  return Text(json);
}

std::string JsonErrors(int exit_code, const std::vector<std::string>& errors) {
  return Text({{"status", "error"}, {"exit_code", exit_code}, {"errors", errors}});
}

std::string JsonInterfaces(const std::vector<std::string>& names,
                           const std::vector<std::string>& paths,
                           const std::vector<ModelInterface>& models) {
  Json list = Json::array();
  for (std::size_t i = 0; i < models.size(); ++i) {
    list.push_back({{"name", names[i]},
                    {"path", paths[i]},
                    {"inputs", ToJson(models[i].inputs)},
                    {"outputs", ToJson(models[i].outputs)}});
  }
  return Text({{"status", "ok"}, {"models", std::move(list)}});
}

}  // namespace poprt::cli
