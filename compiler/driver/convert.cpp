#include "compiler/driver/convert.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/driver/return_free_memory.hpp"
#include "compiler/driver/sharding_file.hpp"
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

/// Passes whose result depends on the elements of weights.
constexpr std::array<const char*, 9> kUseElements{
    "eliminate_duplicate_initializer",
    "eliminate_nop_arithmetic",
    "fuse_bn_into_conv",
    "fuse_bn_into_gemm",
    "fuse_mul_into_matmul",
    "fuse_parallel_conv",
    "replace_bn_with_mul_add",
    "replace_div_with_mul",
    "replace_pow",
};

constexpr std::string_view kSharding = "manual_sharding";

passes::PipelineOptions PipelineOf(const ModelOptions& model) {
  passes::PipelineOptions options{
      .precision = model.precision, .extra = model.passes, .skip = model.skip_passes};
  if (!model.constant_weights) options.skip.insert(kUseElements.begin(), kUseElements.end());
  if (!model.only_manual_sharding) return options;
  for (const passes::PassDef& pass : passes::AllPasses()) {
    const bool is_other = pass.stage == passes::Stage::kConversion && pass.name != kSharding;
    if (is_other) options.skip.emplace(pass.name);
  }
  return options;
}

/// Where the user wants nodes; nothing without a file.
absl::StatusOr<std::vector<passes::ShardingNode>> ShardingOf(const ModelOptions& model) {
  if (!model.manual_sharding_config.empty()) return ReadShardingFile(model.manual_sharding_config);
  if (!model.only_manual_sharding) return std::vector<passes::ShardingNode>();
  return absl::InvalidArgumentError("only_manual_sharding needs manual_sharding_config");
}

/// Counts nodes and constants, those inside control flow among them.
void CountParameters(const ir::Graph& graph, ModelReport& report) {
  report.nodes += graph.nodes.size();
  for (const ir::Node& node : graph.nodes) {
    for (const ir::Graph& region : node.regions) CountParameters(region, report);
  }
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
                                        .frozen_inputs = model.freeze_input,
                                        .batch_size = model.batch_size,
                                        .batch_axis = model.batch_axis,
                                        .max_tensor_size = model.max_tensor_size,
                                        .warn = warn};
  if (model.path.empty()) return frontend::ImportOnnxBytes(model.bytes, ".", options);
  return frontend::ImportOnnxFile(model.path, options);
}

using Pipeline = std::vector<const passes::PassDef*>;

/// Progress over all models: a step for the import of each and one for each of its passes.
class Steps {
 public:
  Steps(const std::vector<Pipeline>& pipelines, const Progress& progress) : progress_(progress) {
    for (const Pipeline& pipeline : pipelines) total_ += static_cast<int>(pipeline.size()) + 1;
  }
  void Begin(const std::string& phase) { progress_(phase, done_, total_); }
  void Finish(const std::string& phase) { progress_(phase, ++done_, total_); }
  /// A model failed: what it had left is left out.
  void SkipTo(int done) { done_ = done; }
  int done() const { return done_; }

 private:
  const Progress& progress_;
  int done_ = 0;
  int total_ = 0;
};

std::string LabelOf(const ModelOptions& model) { return model.path.empty() ? "model" : model.path; }

/// "a.onnx (1/2)".
std::string ShortLabel(const std::vector<ModelOptions>& models, std::size_t index) {
  std::string label = std::filesystem::path(LabelOf(models[index])).filename().string();
  if (models.size() > 1) absl::StrAppend(&label, " (", index + 1, "/", models.size(), ")");
  return label;
}

std::vector<std::string> InputsOfType(const ir::Graph& graph, ElementType type) {
  std::vector<std::string> names;
  for (const ir::ValueId input : graph.inputs) {
    const ir::Value& value = graph.value(input);
    if (value.type.element == type) names.push_back(value.name);
  }
  return names;
}

/// Those of `wide` that are int32 by now.
std::vector<std::string> Narrowed(const std::vector<std::string>& wide, const ir::Graph& graph) {
  std::vector<std::string> narrowed;
  for (const std::string& name : InputsOfType(graph, ElementType::kInt32)) {
    if (std::ranges::find(wide, name) != wide.end()) narrowed.push_back(name);
  }
  return narrowed;
}

/// Refuses what only lives while a model is imported.
absl::Status CheckRunnable(const frontend::ImportedModel& imported, const std::string& label) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : imported.host_outputs) {
    lines.push_back(absl::StrCat(label, ": output '", name, "' is ", frontend::Describe(value),
                                 ", and strings do not survive to run time; remove that output "
                                 "from the model"));
  }
  if (lines.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

absl::StatusOr<ir::Graph> ConvertOne(const ModelOptions& model, const Pipeline& pipeline,
                                     const std::string& short_label, Steps& steps, const Log& warn,
                                     ModelReport& report) {
  const std::string label = LabelOf(model);
  const auto sharding = ShardingOf(model);
  if (!sharding.ok()) return sharding.status();
  const auto import_start = Clock::now();
  steps.Begin("import " + short_label);
  absl::StatusOr<frontend::ImportedModel> imported = Import(model, warn);
  if (!imported.ok()) return imported.status();
  if (absl::Status status = CheckRunnable(*imported, label); !status.ok()) return status;
  report.opset = imported->opset;
  report.frozen_inputs = imported->frozen_inputs;
  report.nodes_imported = imported->graph.nodes.size();
  report.name = imported->graph.name;
  ReturnFreeMemory();
  report.import_seconds = SecondsSince(import_start);
  const std::vector<std::string> wide = InputsOfType(imported->graph, ElementType::kInt64);

  const passes::PassContext context{
      .max_tensor_size = model.max_tensor_size,
      .fp16_skip_op_types = model.fp16_skip_op_types,
      .checkpoints = model.checkpoints,
      .remove_outputs = model.remove_outputs,
      .warn = [&](const std::string& message) { warn(label + ": " + message); },
      .sharding = *sharding};
  const auto convert_start = Clock::now();
  const std::string phase = "convert " + short_label;
  steps.Finish(phase);
  auto records = passes::RunPasses(imported->graph, pipeline, context,
                                   [&](const passes::PassRecord&) { steps.Finish(phase); });
  if (!records.ok()) return records.status();
  ReturnFreeMemory();
  report.passes = *std::move(records);
  report.convert_seconds = SecondsSince(convert_start);
  report.narrowed_inputs = Narrowed(wide, imported->graph);
  CountParameters(imported->graph, report);
  return std::move(imported->graph);
}

absl::StatusOr<std::vector<Pipeline>> BuildPipelines(const std::vector<ModelOptions>& models) {
  std::vector<Pipeline> pipelines;
  Failures failures;
  for (const ModelOptions& model : models) {
    auto pipeline = passes::BuildPipeline(passes::Stage::kConversion, PipelineOf(model));
    if (!pipeline.ok()) failures.Add(pipeline.status());
    pipelines.push_back(pipeline.ok() ? *std::move(pipeline) : Pipeline{});
  }
  if (!failures.status().ok()) return failures.status();
  return pipelines;
}

}  // namespace

absl::StatusOr<Converted> Convert(const std::vector<ModelOptions>& models, bool fuse,
                                  const Progress& progress, const Log& warn) {
  if (models.empty() || (!fuse && models.size() > 1)) {
    return absl::InternalError("one model is converted alone, or several are fused");
  }
  const absl::StatusOr<std::vector<Pipeline>> pipelines = BuildPipelines(models);
  if (!pipelines.ok()) return pipelines.status();
  Converted converted;
  std::vector<std::string> names;
  Failures failures;
  Steps steps(*pipelines, progress);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const ModelOptions& model = models[i];
    ModelReport& report = converted.models.emplace_back();
    report.name = LabelOf(model);
    report.path = model.path;
    const int after = steps.done() + static_cast<int>((*pipelines)[i].size()) + 1;
    absl::StatusOr<ir::Graph> graph =
        ConvertOne(model, (*pipelines)[i], ShortLabel(models, i), steps, warn, report);
    steps.SkipTo(after);
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

  const auto fuse_start = Clock::now();
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
  converted.fuse_seconds = SecondsSince(fuse_start);
  return converted;
}

}  // namespace poprt::driver
