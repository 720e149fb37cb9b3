#include "tools/poprt/resolve_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "passes/pass.hpp"
#include "tools/poprt/input_file.hpp"
#include "tools/poprt/output_files.hpp"
#include "tools/poprt/words.hpp"

namespace poprt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFusedOutput = "model_fusion.onnx";
constexpr std::string_view kInputShape = "input_shape";
constexpr std::string_view kFreezeInput = "freeze_input";
constexpr std::string_view kToHalf = "float_to_half";
constexpr std::string_view kOutputExtension = ".optimized.onnx";

const OptionValue* FindValue(const std::vector<OptionValue>& values, std::string_view name) {
  const auto found = std::ranges::find_if(
      values, [&](const OptionValue& value) { return value.def->name == name; });
  return found == values.end() ? nullptr : &*found;
}

class Resolver {
 public:
  Resolver(const CommandLine& line, const ConfigFile& config, const InterfaceReader& read_interface,
           Problems& problems)
      : line_(line), config_(config), read_interface_(read_interface), problems_(problems) {}

  Settings Resolve() {
    ApplyGlobal(config_.values);
    ApplyGlobal(line_.values);
    if (AsksForInformation()) return std::move(settings_);
    MakeModels();
    ApplyModelValues();
    for (std::size_t i = 0; i < settings_.models.size(); ++i) FindModel(i);
    DecideFusion();
    for (driver::ModelOptions& model : settings_.models) {
      model.constant_weights = settings_.compiler.constantWeights;
    }
    for (const OptionValue& value : shared_inputs_) RouteShared(value);
    CheckModels();
    CheckContradictions();
    NameOutput();
    if (!settings_.models.empty()) CheckOutputs();
    return std::move(settings_);
  }

 private:
  bool AsksForInformation() const {
    return settings_.version || settings_.list_all_passes || !settings_.print_completion.empty();
  }

  void Report(const absl::Status& status) {
    if (!status.ok()) problems_.AddUsage(std::string(status.message()));
  }

  void ApplyGlobal(const std::vector<OptionValue>& values) {
    std::set<std::string> earlier = std::exchange(settings_.compiler_keys, {});
    for (const OptionValue& value : values) Report(Apply(value, settings_));
    for (const OptionValue& value : values) {
      const std::string name(value.def->name);
      if (!settings_.compiler_keys.contains(name)) continue;
      problems_.AddUsage(absl::StrCat(value.where, ": stands in compiler_options as well; give '",
                                      name, "' once"));
    }
    settings_.compiler_keys.merge(earlier);
  }

  // How many models there are and where each gets its own values from.
  void MakeModels() {
    const OptionValue* const from_line = FindValue(line_.values, "input_model");
    const OptionValue* const from_top = FindValue(config_.values, "input_model");
    if (config_.fusion) {
      for (const OptionValue* value : {from_line, from_top}) {
        if (value == nullptr) continue;
        problems_.AddUsage(absl::StrCat(value->where, ": the models are those of model_fusion in ",
                                        config_.path, "; give one of the two"));
      }
      own_values_ = config_.models;
    } else if (const OptionValue* const value = from_line != nullptr ? from_line : from_top) {
      for (const std::string& word : value->words) {
        own_values_.push_back({{value->def, {word}, value->where}});
      }
    }
    if (own_values_.empty() && problems_.empty()) {
      problems_.AddUsage("there is no model: give --input_model or --config_yaml");
    }
    settings_.models.resize(own_values_.size());
  }

  void ApplyModelValues() {
    for (std::size_t i = 0; i < own_values_.size(); ++i) {
      for (const OptionValue& value : config_.values) {
        if (FindValue(own_values_[i], value.def->name) == nullptr) ApplyShared(value, i);
      }
      for (const OptionValue& value : own_values_[i]) {
        Report(Apply(value, settings_.models[i]));
        if (value.def->name == kFreezeInput) FindFrozen(value, settings_.models[i]);
      }
      for (const OptionValue& value : line_.values) ApplyShared(value, i);
    }
    for (const std::string_view option : {kInputShape, kFreezeInput}) {
      KeepShared(config_.values, option);
      KeepShared(line_.values, option);
    }
  }

  // A value for all models; what is wrong with it is said once. What is said of inputs waits until
  // the names of the graphs are known.
  void ApplyShared(const OptionValue& value, std::size_t model) {
    const std::string_view name = value.def->name;
    if (name == "input_model" || name == kInputShape || name == kFreezeInput) return;
    const absl::Status status = Apply(value, settings_.models[model]);
    if (model == 0) Report(status);
  }

  void KeepShared(const std::vector<OptionValue>& values, std::string_view option) {
    const OptionValue* const value = FindValue(values, option);
    if (value != nullptr && !settings_.models.empty()) shared_inputs_.push_back(*value);
  }

  void FindModel(std::size_t index) {
    std::string& path = settings_.models[index].path;
    const OptionValue* const value = FindValue(own_values_[index], "input_model");
    if (value == nullptr) {
      if (config_.damaged_models.contains(index)) return;  // said already
      problems_.AddUsage(
          absl::StrCat(config_.path, ": entry ", index + 1, " of model_fusion has no input_model"));
      return;
    }
    if (path.empty()) return;
    if (const std::string problem = Locate(*value, path, "model.onnx"); !problem.empty()) {
      problems_.AddMissingModel(absl::StrCat(problem, AdviceOnName(path)));
    }
  }

  void FindFrozen(const OptionValue& value, driver::ModelOptions& model) {
    for (auto& [name, frozen] : model.freeze_input) {
      const std::string role = absl::StrCat(" for input '", name, "'");
      const std::string problem =
          Locate(value, std::get<frontend::FrozenFile>(frozen).path, "value.npy", role);
      if (!problem.empty()) problems_.AddInput(problem);
    }
  }

  // Files named in the configuration file may be beside it, which `path` then says. Returns what is
  // wrong if there is no file.
  std::string Locate(const OptionValue& value, std::string& path, std::string_view example,
                     std::string_view role = "") const {
    if (FileExists(path)) return "";
    const bool in_file = !value.where.starts_with("--");
    const fs::path beside = fs::path(config_.path).parent_path() / path;
    std::error_code error;
    const bool is_here = fs::exists(path, error);
    const bool is_beside = in_file && fs::exists(beside, error);
    if (is_beside && (!is_here || FileExists(beside))) path = beside.string();
    if (FileExists(path)) return "";
    const bool is_nowhere = in_file && !is_here && !is_beside;
    return absl::StrCat(
        value.where, ": ", WhyNoFile(path, example, role),
        is_nowhere ? ", neither in the working directory nor beside the configuration file" : "");
  }

  // For "a/b=model.onnx": what stands before '=' was not taken for a name.
  static std::string AdviceOnName(const std::string& path) {
    const std::size_t equals = path.find('=');
    if (equals == std::string::npos || path.find('/') > equals ||
        !FileExists(path.substr(equals + 1)))
      return "";
    return absl::StrCat("; the name of a graph must not contain '/', as '", path.substr(0, equals),
                        "' does: use letters, digits, '_', '-' and '.'");
  }

  // A graph has a name only in a fused container, so naming one asks for such a container.
  void DecideFusion() {
    const bool named = std::ranges::any_of(
        settings_.models, [](const driver::ModelOptions& model) { return !model.name.empty(); });
    settings_.fuse = config_.fusion || settings_.models.size() > 1 || named ||
                     settings_.compiler.enableModelFusion;
    if (settings_.fuse && settings_.compiler_keys.contains("enable_model_fusion") &&
        !settings_.compiler.enableModelFusion) {
      problems_.AddUsage("compiler_options: enable_model_fusion is false, but models are fused");
    }
    settings_.compiler.enableModelFusion = settings_.fuse;
  }

  std::string GraphName(std::size_t index) const {
    const std::string& name = settings_.models[index].name;
    return name.empty() ? absl::StrCat("graph", index) : name;
  }

  void RouteShared(const OptionValue& value) {
    driver::ModelOptions parsed;
    const absl::Status status = Apply(value, parsed);
    if (!status.ok()) return Report(status);
    FindFrozen(value, parsed);
    Route(value, parsed, &driver::ModelOptions::input_shape);
    Route(value, parsed, &driver::ModelOptions::freeze_input);
  }

  // Hands what is said of each input to the model its name is qualified with, or to all that have
  // such an input; a qualified one counts more.
  template <typename T>
  void Route(const OptionValue& value, const driver::ModelOptions& parsed,
             std::map<std::string, T> driver::ModelOptions::*member) {
    for (const bool qualified : {false, true}) {
      for (const auto& [name, said] : parsed.*member) {
        if (IsQualified(name) == qualified) RouteOne(value, name, said, member);
      }
    }
  }

  bool IsQualified(const std::string& name) const {
    for (std::size_t i = 0; i < settings_.models.size(); ++i) {
      if (settings_.fuse && name.starts_with(GraphName(i) + "/")) return true;
    }
    return false;
  }

  // Models with values of their own do not take those of the top of the file.
  template <typename T>
  void RouteOne(const OptionValue& value, const std::string& name, const T& said,
                std::map<std::string, T> driver::ModelOptions::*member) {
    const bool from_line = value.where.starts_with("--");
    bool used = false;
    for (std::size_t i = 0; i < settings_.models.size(); ++i) {
      const std::optional<std::string> input = InputOf(i, name);
      if (!input) continue;
      used = true;
      if (from_line || FindValue(own_values_[i], value.def->name) == nullptr) {
        (settings_.models[i].*member)[*input] = said;
      }
    }
    // A model that is missing or was not understood may have had it.
    if (!used && !problems_.any_missing_models() && config_.damaged_models.empty())
      problems_.AddInput(absl::StrCat(value.where, ": no model has an input '", name, "'"));
  }

  // What model `index` calls the input that `name` stands for, if it has it.
  std::optional<std::string> InputOf(std::size_t index, const std::string& name) {
    if (!settings_.fuse) return name;
    const std::string prefix = GraphName(index) + "/";
    if (name.starts_with(prefix)) return name.substr(prefix.size());
    const std::vector<std::string>& inputs = InputsOf(settings_.models[index].path);
    return std::ranges::count(inputs, name) > 0 ? std::optional(name) : std::nullopt;
  }

  const std::vector<std::string>& InputsOf(const std::string& path) {
    const auto [entry, added] = inputs_.try_emplace(path);
    if (!added || !FileExists(path)) return entry->second;
    const absl::StatusOr<ModelInterface> model = read_interface_(path);
    if (!model.ok()) {
      problems_.AddInput(std::string(model.status().message()));
      return entry->second;
    }
    for (const DeclaredTensor& input : model->inputs) entry->second.push_back(input.name);
    return entry->second;
  }

  void CheckModels() {
    if (settings_.show && settings_.json && (settings_.export_popef || settings_.run)) {
      problems_.AddUsage(
          "--show with --json prints inputs and outputs only: leave out --export_popef "
          "and --run, or one of the two");
    }
    for (std::size_t i = 0; i < settings_.models.size(); ++i) {
      for (std::size_t other = 0; other < i; ++other) {
        if (GraphName(i) != GraphName(other)) continue;
        problems_.AddUsage(absl::StrCat("two graphs are called '", GraphName(i), "'"));
      }
    }
  }

  void NameOutput() {
    if (settings_.output_model.empty() && settings_.fuse) settings_.output_model = kFusedOutput;
    if (settings_.output_model.empty() && !settings_.models.empty()) {
      settings_.output_model = fs::path(settings_.models.front().path).stem().string();
      settings_.output_model += kOutputExtension;
    }
  }

  // Information only: nothing is converted.
  bool OnlyShows() const { return settings_.show && !settings_.export_popef && !settings_.run; }

  void CheckOutputs() {
    if (OnlyShows()) return;
    const OutputFiles files = OutputFilesOf(settings_);
    // Only files that exist can be lost, so models are read here in that case only.
    std::error_code error;
    const bool any_exists =
        fs::exists(files.onnx, error) || (!files.popef.empty() && fs::exists(files.popef, error));
    std::map<std::string, InputFile> inputs;
    if (FileExists(config_.path)) inputs[config_.path] = {config_.path, "the configuration file"};
    for (const driver::ModelOptions& model : settings_.models) {
      if (!FileExists(model.path)) continue;
      inputs[model.path] = {model.path, "its input"};
      for (const auto& [name, frozen] : model.freeze_input) {
        const std::string& file = std::get<frontend::FrozenFile>(frozen).path;
        if (FileExists(file)) inputs.try_emplace(file, InputFile{file, "the value of an input"});
      }
      if (!any_exists) continue;
      for (const fs::path& file : ExternalFilesOf(model.path)) {
        inputs.try_emplace(file.string(), InputFile{file.string(), "data of its input"});
      }
    }
    std::vector<InputFile> list;
    list.reserve(inputs.size());
    for (auto& [path, input] : inputs) list.push_back(std::move(input));
    CheckOverwriting(files, list, problems_);
  }

  // What cannot be read is reported when it is imported.
  std::vector<fs::path> ExternalFilesOf(const std::string& path) const {
    std::vector<fs::path> files;
    const absl::StatusOr<ModelInterface> model = read_interface_(path);
    if (!model.ok()) return files;
    for (const std::string& file : model->external_files) {
      files.push_back(fs::path(path).parent_path() / file);
    }
    return files;
  }

  // Options of a model that do something only in company.
  void CheckContradictions() {
    CheckTuner();
    CheckAutoSharding();
    CheckUse("batch_axis", "needs batch_size",
             [](const driver::ModelOptions& model) { return model.batch_size.has_value(); });
    CheckUse("fp16_skip_op_types", "needs precision fp16", [](const driver::ModelOptions& model) {
      return model.precision == "fp16" || Contains(model.passes, kToHalf);
    });
    for (const driver::ModelOptions& model : settings_.models) {
      if (model.precision != "fp16" || !model.skip_passes.contains(std::string(kToHalf)) ||
          Contains(model.passes, kToHalf)) {
        continue;
      }
      problems_.AddUsage(absl::StrCat(
          "precision fp16 of '", model.path, "' is made by the pass '", std::string(kToHalf),
          "', which skip_passes leaves out: choose precision fp32 or keep the pass"));
    }
    if (settings_.export_popef || settings_.run || settings_.show) return;
    std::set<std::string> lowering;
    for (const driver::ModelOptions& model : settings_.models) {
      for (const std::string& name : model.passes) {
        const passes::PassDef* const pass = passes::FindPass(name);
        if (pass != nullptr && pass->stage == passes::Stage::kLowering) lowering.insert(name);
      }
    }
    for (const std::string& name : lowering) {
      problems_.AddUsage(absl::StrCat("passes: '", name,
                                      "' runs when the model is compiled: give --export_popef or "
                                      "--run, or leave it out"));
    }
  }

  void CheckAutoSharding() {
    const bool has_plan = settings_.export_popef || settings_.run || settings_.report ||
                          !settings_.profile_dir.empty();
    if (has_plan || settings_.show || settings_.compiler.autoSharding == 0) return;
    ReportUselessAnywhere("auto_sharding",
                          "finds stages in the plan for the IPU: give --report, --profile_dir, "
                          "--export_popef or --run");
  }

  void CheckTuner() {
    if (!settings_.perf_tuner) {
      ReportUselessAnywhere("perf_tuner_cache", "needs perf_tuner");
    } else if (!settings_.export_popef && !settings_.run) {
      ReportUselessAnywhere("perf_tuner",
                            "measures when the model is compiled: give --export_popef or --run");
    }
  }

  void ReportUselessAnywhere(std::string_view option, const char* reason) {
    ReportUseless(config_.values, option, reason);
    ReportUseless(line_.values, option, reason);
  }

  static bool Contains(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  }

  // Refuses an option given for a model, or for all, of which no model it is for can make use.
  template <typename CanUse>
  void CheckUse(std::string_view option, const char* reason, CanUse can_use) {
    for (std::size_t i = 0; i < own_values_.size(); ++i) {
      if (!can_use(settings_.models[i])) ReportUseless(own_values_[i], option, reason);
    }
    if (settings_.models.empty() || std::ranges::any_of(settings_.models, can_use)) return;
    ReportUseless(config_.values, option, reason);
    ReportUseless(line_.values, option, reason);
  }

  void ReportUseless(const std::vector<OptionValue>& values, std::string_view option,
                     const char* reason) {
    const OptionValue* const value = FindValue(values, option);
    if (value == nullptr || value->words.empty()) return;
    problems_.AddUsage(absl::StrCat(value->where, ": ", reason));
  }

  const CommandLine& line_;
  const ConfigFile& config_;
  const InterfaceReader& read_interface_;
  Problems& problems_;
  Settings settings_;
  std::vector<std::vector<OptionValue>> own_values_;        ///< of each model
  std::vector<OptionValue> shared_inputs_;                  ///< of each option weakest first
  std::map<std::string, std::vector<std::string>> inputs_;  ///< by path
};

}  // namespace

Settings ResolveSettings(const CommandLine& line, const ConfigFile& config,
                         const InterfaceReader& read_interface, Problems& problems) {
  return Resolver(line, config, read_interface, problems).Resolve();
}

}  // namespace poprt::cli
