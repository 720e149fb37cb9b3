#include "compiler/driver/convert.hpp"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/import.hpp"
#include "passes/fuse_models.hpp"

namespace poprt::driver {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Collects failures of several models into one status.
class Failures {
 public:
  void Add(const absl::Status& status) {
    if (combined_.ok()) {
      combined_ = status;
    } else {
      combined_ = absl::Status(
          combined_.code() == absl::StatusCode::kInternal ? combined_.code() : status.code(),
          absl::StrCat(combined_.message(), "\n", status.message()));
    }
  }
  const absl::Status& status() const { return combined_; }

 private:
  absl::Status combined_;
};

passes::PipelineOptions PipelineOf(const ModelOptions& model) {
  return {.precision = model.precision, .extra = model.passes, .skip = model.skip_passes};
}

void CountParameters(const ir::Graph& graph, ModelReport& report) {
  report.nodes = graph.nodes.size();
  for (const ir::Value& value : graph.values()) {
    if (!value.is_constant()) continue;
    report.parameters += value.constant->count();
    report.parameter_bytes += value.constant->bytes();
  }
}

absl::StatusOr<frontend::ImportedModel> Import(const ModelOptions& model, const Log& warn) {
  // Without a name the graph is called after the file, not its folder, which must not get into the
  // outputs.
  const frontend::ImportOptions options{.model_name = "",
                                        .input_shapes = model.input_shape,
                                        .batch_size = model.batch_size,
                                        .batch_axis = model.batch_axis,
                                        .max_tensor_size = model.max_tensor_size,
                                        .warn = warn};
  if (model.path.empty()) return frontend::ImportOnnxBytes(model.bytes, ".", options);
  return frontend::ImportOnnxFile(model.path, options);
}

absl::StatusOr<ir::Graph> ConvertOne(const ModelOptions& model, const std::string& label,
                                     const Progress& progress, const Log& warn,
                                     ModelReport& report) {
  const auto pipeline = passes::BuildPipeline(passes::Stage::kConversion, PipelineOf(model));
  if (!pipeline.ok()) return pipeline.status();

  const std::string phase = "convert " + label;
  const int total = static_cast<int>(pipeline->size()) + 1;
  const auto import_start = Clock::now();
  progress(phase, 0, total);
  absl::StatusOr<frontend::ImportedModel> imported = Import(model, warn);
  if (!imported.ok()) return imported.status();
  report.opset = imported->opset;
  report.nodes_imported = imported->graph.nodes.size();
  report.import_seconds = SecondsSince(import_start);

  const passes::PassContext context{
      .max_tensor_size = model.max_tensor_size,
      .fp16_skip_op_types = model.fp16_skip_op_types,
      .checkpoints = model.checkpoints,
      .remove_outputs = model.remove_outputs,
      .warn = [&](const std::string& message) { warn(label + ": " + message); }};
  const auto convert_start = Clock::now();
  int done = 1;
  progress(phase, done, total);
  auto records =
      passes::RunPasses(imported->graph, *pipeline, context,
                        [&](const passes::PassRecord&) { progress(phase, ++done, total); });
  if (!records.ok()) return records.status();
  report.passes = *std::move(records);
  report.convert_seconds = SecondsSince(convert_start);
  CountParameters(imported->graph, report);
  return std::move(imported->graph);
}

}  // namespace

absl::StatusOr<Converted> Convert(const std::vector<ModelOptions>& models, bool fuse,
                                  const Progress& progress, const Log& warn) {
  if (models.empty() || (!fuse && models.size() > 1)) {
    return absl::InternalError("one model is converted alone, or several are fused");
  }
  Converted converted;
  std::vector<std::string> names;
  Failures failures;
  for (const ModelOptions& model : models) {
    const std::string label = model.path.empty() ? "model" : model.path;
    ModelReport& report = converted.models.emplace_back();
    report.name = label;
    report.path = model.path;
    absl::StatusOr<ir::Graph> graph = ConvertOne(model, label, progress, warn, report);
    if (graph.ok()) {
      converted.graphs.push_back(*std::move(graph));
    } else {
      failures.Add(graph.status());
    }
    converted.pipelines.push_back(PipelineOf(model));
    names.push_back(model.name);
  }
  if (!failures.status().ok()) return failures.status();
  if (!fuse) return converted;

  auto fused = passes::FuseModels(std::move(converted.graphs), names);
  if (!fused.ok()) return fused.status();
  converted.graphs = std::move(fused->graphs);
  converted.names = std::move(fused->names);
  converted.constant_bytes_before = fused->constant_bytes_before;
  converted.constant_bytes_after = fused->constant_bytes_after;
  for (std::size_t i = 0; i < converted.names.size(); ++i) {
    converted.models[i].name = converted.names[i];
    converted.graphs[i].name = converted.names[i];
  }
  return converted;
}

}  // namespace poprt::driver
