#include "tools/poprt/cli_options.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/driver/option_table.hpp"
#include "compiler/ir/nearest_name.hpp"
#include "tools/poprt/pass_names.hpp"
#include "tools/poprt/words.hpp"

namespace poprt::cli {
namespace {

using driver::ModelOptions;

absl::Status Bad(const std::string& message) { return absl::InvalidArgumentError(message); }

template <auto Member>
absl::Status SetFlag(Settings& settings, Words words) {
  settings.*Member = *ParseBool(words.front());
  return absl::OkStatus();
}

template <auto Member>
absl::Status SetText(Settings& settings, Words words) {
  settings.*Member = words.front();
  return absl::OkStatus();
}

// A member of CompilerOptions that has an option of its own.
template <const char* Name>
absl::Status SetCompiler(Settings& settings, Words words) {
  const auto table = driver::CompilerOptionTable();
  const auto def =
      std::ranges::find(table, std::string_view(Name), &driver::CompilerOptionDef::name);
  const absl::Status status = def->set(settings.compiler, words.front());
  if (status.ok()) return status;
  return Bad(absl::StrCat("'", words.front(), "' is ", status.message(),
                          "; allowed: ", std::string(def->values)));
}
constexpr char kIpuVersion[] = "ipu_version";
constexpr char kNumIoTiles[] = "num_io_tiles";
constexpr char kBatchesPerStep[] = "batches_per_step";
constexpr char kMemoryProportion[] = "available_memory_proportion";
constexpr char kPlatform[] = "platform";
constexpr char kTargetConfig[] = "target_config";
constexpr char kAllowOutOfMemory[] = "allow_out_of_memory";
constexpr char kAutoSharding[] = "auto_sharding";

absl::Status SetCompilerPair(Settings& settings, const std::string& pair) {
  const std::size_t equals = pair.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Bad(absl::StrCat("'", pair, "' is not KEY=VALUE"));
  }
  const std::string key = pair.substr(0, equals);
  settings.compiler_keys.insert(key);
  return driver::SetCompilerOption(settings.compiler, key, pair.substr(equals + 1));
}

// The problems of all words, a line each.
template <typename SetOne>
absl::Status SetEach(Words words, SetOne set_one) {
  std::vector<std::string> problems;
  for (const std::string& word : words) {
    const absl::Status status = set_one(word);
    if (!status.ok()) problems.emplace_back(status.message());
  }
  return problems.empty() ? absl::OkStatus() : Bad(absl::StrJoin(problems, "\n"));
}

absl::Status SetCompilerPairs(Settings& settings, Words words) {
  return SetEach(words, [&](const std::string& pair) { return SetCompilerPair(settings, pair); });
}

absl::Status SetProgressBar(Settings& settings, Words words) {
  settings.compiler.showCompilationProgressBar = !*ParseBool(words.front());
  return absl::OkStatus();
}

absl::Status SetLoggingLevel(Settings& settings, Words words) {
  settings.logging_level = *ParseLogLevel(words.front());
  return absl::OkStatus();
}

absl::Status SetConvertVersion(Settings& settings, Words words) {
  settings.convert_version = static_cast<int>(*ParseInteger(words.front()));
  return absl::OkStatus();
}

absl::Status SetOutputModel(Settings& settings, Words words) {
  if (!std::filesystem::path(words.front()).has_filename()) {
    return Bad(absl::StrCat("'", words.front(), "' is not a file name"));
  }
  settings.output_model = words.front();
  return absl::OkStatus();
}

template <auto Member>
absl::Status SetModelText(ModelOptions& model, Words words) {
  model.*Member = words.front();
  return absl::OkStatus();
}

template <auto Member>
absl::Status SetModelList(ModelOptions& model, Words words) {
  model.*Member = {words.begin(), words.end()};
  return absl::OkStatus();
}

template <auto Member, absl::Status (*Check)(const std::string&)>
absl::Status SetCheckedList(ModelOptions& model, Words words) {
  const absl::Status status = SetEach(words, Check);
  return status.ok() ? SetModelList<Member>(model, words) : status;
}

absl::Status SetOnlyManualSharding(ModelOptions& model, Words words) {
  model.only_manual_sharding = *ParseBool(words.front());
  return absl::OkStatus();
}

absl::Status SetModelPath(ModelOptions& model, Words words) {
  auto [name, path] = ParseNamedPath(words.front());
  if (path.empty()) return Bad(absl::StrCat("'", words.front(), "' has no path"));
  if (!name.empty()) model.name = name;
  model.path = path;
  return absl::OkStatus();
}

absl::Status SetModelName(ModelOptions& model, Words words) {
  if (!IsGraphName(words.front())) {
    return Bad(absl::StrCat("'", words.front(),
                            "' is not a graph name: letters, digits, '_', '-' and '.'"));
  }
  model.name = words.front();
  return absl::OkStatus();
}

absl::Status SetInputShape(ModelOptions& model, Words words) {
  std::map<std::string, Shape> shapes;
  const absl::Status status = SetEach(words, [&](const std::string& word) {
    auto named = ParseNamedShape(word);
    if (!named) {
      const char* const advice =
          ParseInteger(word) ? "; all of a shape is one word, in quotes in a configuration file"
                             : "";
      return Bad(absl::StrCat("'", word, "' is not NAME=1,512 with extents >= 0", advice));
    }
    if (!shapes.emplace(named->first, named->second).second) {
      return Bad(absl::StrCat("'", named->first, "' stands there twice"));
    }
    return absl::OkStatus();
  });
  for (auto& [name, shape] : shapes) model.input_shape[name] = std::move(shape);
  return status;
}

absl::Status SetFreezeInput(ModelOptions& model, Words words) {
  std::map<std::string, frontend::FrozenInput> files;
  const absl::Status status = SetEach(words, [&](const std::string& word) {
    const std::size_t equals = word.rfind('=');
    const std::string path = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == 0 || !(path.ends_with(".pb") || path.ends_with(".npy"))) {
      return Bad(absl::StrCat("'", word, "' is not NAME=FILE.pb or NAME=FILE.npy"));
    }
    const std::string name = word.substr(0, equals);
    if (!files.emplace(name, frontend::FrozenFile{path}).second) {
      return Bad(absl::StrCat("'", name, "' stands there twice"));
    }
    return absl::OkStatus();
  });
  for (auto& [name, file] : files) model.freeze_input[name] = std::move(file);
  return status;
}

absl::Status SetBatchSize(ModelOptions& model, Words words) {
  model.batch_size = ParseInteger(words.front());
  if (*model.batch_size < 1) return Bad(absl::StrCat(words.front(), " is less than 1"));
  return absl::OkStatus();
}

absl::Status SetBatchAxis(ModelOptions& model, Words words) {
  model.batch_axis = *ParseInteger(words.front());
  if (model.batch_axis < 0) return Bad(absl::StrCat(words.front(), " is less than 0"));
  return absl::OkStatus();
}

absl::Status SetMaxTensorSize(ModelOptions& model, Words words) {
  model.max_tensor_size = *ParseInteger(words.front());
  if (model.max_tensor_size < -1) {
    return Bad(absl::StrCat(words.front(), " is neither a size in bytes nor -1"));
  }
  return absl::OkStatus();
}

constexpr std::string_view kModels = "Models";
constexpr std::string_view kShapes = "Shapes";
constexpr std::string_view kPrecision = "Precision";
constexpr std::string_view kConversion = "Conversion";
constexpr std::string_view kCompilation = "Compilation";
constexpr std::string_view kOutput = "Output";
constexpr std::string_view kInformation = "Information";

constexpr OptionDef kOptions[] = {
    {.name = "input_model",
     .scope = Scope::kModel,
     .kind = Kind::kPaths,
     .topic = kModels,
     .value = "[NAME=]PATH",
     .help = "ONNX model; several are fused, NAME then names the graph",
     .letter = "i",
     .set_model = SetModelPath},
    {.name = "config_yaml",
     .scope = Scope::kCommandLine,
     .kind = Kind::kPath,
     .topic = kModels,
     .value = "PATH",
     .help = "configuration file; options on the command line override it"},
    {.name = "model_fusion", .scope = Scope::kFile, .kind = Kind::kModels},
    {.name = "name", .scope = Scope::kFileModel, .kind = Kind::kText, .set_model = SetModelName},
    {.name = "framework",
     .kind = Kind::kText,
     .topic = kModels,
     .value = "NAME",
     .help = "front end",
     .choices = "onnx",
     .set = [](Settings&, Words) { return absl::OkStatus(); }},

    {.name = "input_shape",
     .scope = Scope::kModel,
     .kind = Kind::kWords,
     .topic = kShapes,
     .value = "NAME=1,512",
     .help = "shapes of inputs; GRAPH/NAME=... for the input of one of several models",
     .set_model = SetInputShape},
    {.name = "freeze_input",
     .scope = Scope::kModel,
     .kind = Kind::kFiles,
     .topic = kShapes,
     .value = "NAME=FILE",
     .help =
         "inputs that become constants, with the value in a .pb or .npy file; GRAPH/NAME=... for "
         "the input of one of several models",
     .set_model = SetFreezeInput},
    {.name = "batch_size",
     .scope = Scope::kModel,
     .kind = Kind::kInteger,
     .topic = kShapes,
     .value = "N",
     .help = "extent of the batch axis of all inputs that leave it open",
     .set_model = SetBatchSize},
    {.name = "batch_axis",
     .scope = Scope::kModel,
     .kind = Kind::kInteger,
     .topic = kShapes,
     .value = "AXIS",
     .help = "which axis is the batch axis (default 0)",
     .set_model = SetBatchAxis},

    {.name = "precision",
     .scope = Scope::kModel,
     .kind = Kind::kText,
     .topic = kPrecision,
     .value = "TYPE",
     .help = "precision of the converted model (default fp32)",
     .choices = "fp32 fp16",
     .choices_later = "fp8 fp8_weight",
     .set_model = SetModelText<&ModelOptions::precision>},
    {.name = "fp16_skip_op_types",
     .scope = Scope::kModel,
     .kind = Kind::kList,
     .topic = kPrecision,
     .value = "OP,OP",
     .help = "operators that stay in float32 under fp16",
     .set_model = SetCheckedList<&ModelOptions::fp16_skip_op_types, CheckOperatorName>},

    {.name = "convert_version",
     .kind = Kind::kInteger,
     .topic = kConversion,
     .value = "OPSET",
     .help = "opset of the converted model (default 17, or the first behind it that has every "
             "operator)",
     .choices = "11 12 13 14 15 16 17 18 19 20 21 22",
     .set = SetConvertVersion},
    {.name = "max_tensor_size",
     .scope = Scope::kModel,
     .kind = Kind::kInteger,
     .topic = kConversion,
     .value = "BYTES",
     .help = "constant folding makes no larger tensor (default -1: no bound)",
     .set_model = SetMaxTensorSize},
    {.name = "passes",
     .scope = Scope::kModel,
     .kind = Kind::kList,
     .topic = kConversion,
     .value = "PASS,PASS",
     .help = "passes that run after the default ones, in this order",
     .set_model = SetCheckedList<&ModelOptions::passes, CheckPassName>},
    {.name = "skip_passes",
     .scope = Scope::kModel,
     .kind = Kind::kList,
     .topic = kConversion,
     .value = "PASS,PASS",
     .help = "default passes that do not run",
     .set_model = SetCheckedList<&ModelOptions::skip_passes, CheckPassName>},
    {.name = "checkpoints",
     .scope = Scope::kModel,
     .kind = Kind::kList,
     .topic = kConversion,
     .value = "TENSOR,TENSOR",
     .help = "intermediate tensors that become outputs",
     .set_model = SetModelList<&ModelOptions::checkpoints>},
    {.name = "remove_outputs",
     .scope = Scope::kModel,
     .kind = Kind::kList,
     .topic = kConversion,
     .value = "OUTPUT,OUTPUT",
     .help = "outputs that go, with all that only they need",
     .set_model = SetModelList<&ModelOptions::remove_outputs>},

    {.name = "export_popef",
     .kind = Kind::kFlag,
     .topic = kCompilation,
     .help = "compile and write executable.popef",
     .set = SetFlag<&Settings::export_popef>},
    {.name = "run",
     .kind = Kind::kFlag,
     .topic = kCompilation,
     .help = "compile, run on random data, print batch size, latency and throughput",
     .set = SetFlag<&Settings::run>},
    {.name = "ipu_version",
     .kind = Kind::kText,
     .topic = kCompilation,
     .value = "IPU",
     .help = "target (default ipu2); ipu21 is the C600",
     .choices = "ipu1 ipu2 ipu21",
     .set = SetCompiler<kIpuVersion>},
    {.name = "platform",
     .kind = Kind::kText,
     .topic = kCompilation,
     .value = "NAME",
     .help = "machine whose clock and host the plan is for: c2, m2000, bow2000, c600",
     .set = SetCompiler<kPlatform>},
    {.name = "target_config",
     .kind = Kind::kPath,
     .topic = kCompilation,
     .value = "FILE",
     .help = "description of the target, instead of --ipu_version",
     .set = SetCompiler<kTargetConfig>},
    {.name = "num_io_tiles",
     .kind = Kind::kText,
     .topic = kCompilation,
     .value = "N",
     .help = "tiles set aside for input and output, so that transfers overlap with computing: "
             "even, at least 32, or auto (default 0)",
     .set = SetCompiler<kNumIoTiles>},
    {.name = "batches_per_step",
     .kind = Kind::kInteger,
     .topic = kCompilation,
     .value = "N",
     .help = "batches that the device computes before it returns to the host (default 1)",
     .set = SetCompiler<kBatchesPerStep>},
    {.name = "available_memory_proportion",
     .kind = Kind::kNumber,
     .topic = kCompilation,
     .value = "X",
     .help = "bound on temporaries of MatMul, Conv and Gemm on a tile of the IPU, in (0, 1] "
             "(default 0.6)",
     .set = SetCompiler<kMemoryProportion>},
    {.name = "allow_out_of_memory",
     .kind = Kind::kFlag,
     .topic = kCompilation,
     .help = "compile and report what does not fit the tiles of the IPU",
     .set = SetCompiler<kAllowOutOfMemory>},
    {.name = "manual_sharding_config",
     .scope = Scope::kModel,
     .kind = Kind::kPath,
     .topic = kCompilation,
     .value = "FILE",
     .help = "where nodes run: a YAML list of {node, device, stage}",
     .set_model = SetModelText<&ModelOptions::manual_sharding_config>},
    {.name = "only_manual_sharding",
     .scope = Scope::kModel,
     .kind = Kind::kFlag,
     .topic = kCompilation,
     .help = "place nodes and leave out all other conversion passes",
     .set_model = SetOnlyManualSharding},
    {.name = "auto_sharding",
     .kind = Kind::kInteger,
     .topic = kCompilation,
     .value = "N",
     .help = "split the operators into N stages on N IPUs that fit and take equally long",
     .set = SetCompiler<kAutoSharding>},
    {.name = "perf_tuner",
     .kind = Kind::kFlag,
     .topic = kCompilation,
     .help = "choose kernels by measuring them on this machine instead of by the cost table, and "
             "print what that gains",
     .set = SetFlag<&Settings::perf_tuner>},
    {.name = "perf_tuner_cache",
     .kind = Kind::kPath,
     .topic = kCompilation,
     .value = "FILE",
     .help = "where --perf_tuner keeps what it measured, for the next time",
     .set = SetText<&Settings::perf_tuner_cache>},
    {.name = "compiler_options",
     .kind = Kind::kPairs,
     .topic = kCompilation,
     .value = "KEY=VALUE",
     .help = "fields of CompilerOptions by their Python names",
     .alias = "popart_options",
     .set = SetCompilerPairs},

    {.name = "output_dir",
     .kind = Kind::kPath,
     .topic = kOutput,
     .value = "FOLDER",
     .help = "where results go, made if it is missing (default ./)",
     .set = SetText<&Settings::output_dir>},
    {.name = "output_model",
     .kind = Kind::kPath,
     .topic = kOutput,
     .value = "NAME",
     .help = "file name of the converted model (default: input name with .optimized.onnx, or "
             "model_fusion.onnx)",
     .set = SetOutputModel},

    {.name = "show",
     .kind = Kind::kFlag,
     .topic = kInformation,
     .help = "print inputs and outputs of the models; does nothing else unless --export_popef or "
             "--run is given",
     .set = SetFlag<&Settings::show>},
    {.name = "report",
     .kind = Kind::kFlag,
     .topic = kInformation,
     .help = "print what the program does on the IPU: memory, cycles, predicted performance",
     .set = SetFlag<&Settings::report>},
    {.name = "profile_dir",
     .kind = Kind::kPath,
     .topic = kInformation,
     .value = "FOLDER",
     .help = "write report.html, report.json and trace.json of the plan for the IPU there",
     .set = SetText<&Settings::profile_dir>},
    {.name = "list_all_passes",
     .kind = Kind::kFlag,
     .topic = kInformation,
     .help = "print all passes and exit",
     .set = SetFlag<&Settings::list_all_passes>},
    {.name = "json",
     .kind = Kind::kFlag,
     .topic = kInformation,
     .help = "write a machine-readable summary, and nothing else, to standard output",
     .set = SetFlag<&Settings::json>},
    {.name = "logging_level",
     .kind = Kind::kText,
     .topic = kInformation,
     .value = "LEVEL",
     .help = "least severe messages that are written (default WARNING)",
     .choices = "DEBUG INFO WARNING ERROR CRITICAL",
     .set = SetLoggingLevel},
    {.name = "disable_compilation_progress_bar",
     .kind = Kind::kFlag,
     .topic = kInformation,
     .help = "show no progress",
     .set = SetProgressBar},
    {.name = "print_completion",
     .scope = Scope::kCommandLine,
     .kind = Kind::kText,
     .topic = kInformation,
     .value = "SHELL",
     .help = "print a completion script and exit",
     .choices = "bash zsh",
     .set = SetText<&Settings::print_completion>},
    {.name = "version",
     .scope = Scope::kCommandLine,
     .kind = Kind::kFlag,
     .topic = kInformation,
     .help = "print the version and exit",
     .letter = "v",
     .set = SetFlag<&Settings::version>},

    // Known to PopRT users and not there yet: refused by name.
    {.name = "apply_hcsr"},
    {.name = "calibration_loss_type"},
    {.name = "calibration_with_data"},
    {.name = "check"},
    {.name = "custom_library_so_paths"},
    {.name = "custom_pass_config"},
    {.name = "custom_shape_inference"},
    {.name = "data_preprocess"},
    {.name = "disable_fast_norm"},
    {.name = "eightbitsio"},
    {.name = "enable_avoid_overflow_patterns"},
    {.name = "enable_compress_pattern"},
    {.name = "enable_erf_gelu"},
    {.name = "enable_insert_remap"},
    {.name = "fold_periodic_initializer"},
    {.name = "fp8_params"},
    {.name = "fp8_skip_op_names"},
    {.name = "infer_shape_ahead"},
    {.name = "merge_if_with_same_cond"},
    {.name = "merge_matmul"},
    {.name = "merge_matmul_add"},
    {.name = "merge_moe"},
    {.name = "num_of_layers_keep_fp16"},
    {.name = "optimize_internal_exchange_code"},
    {.name = "pack_args"},
    {.name = "precision_compare"},
    {.name = "remap_mode"},
    {.name = "serialize_matmul"},
    {.name = "serialize_matmul_add"},
    {.name = "show_io_stat"},
};

bool OnCommandLine(const OptionDef& def) {
  return def.scope != Scope::kFile && def.scope != Scope::kFileModel;
}

bool InFile(const OptionDef& def, bool in_model) {
  if (IsLater(def)) return true;
  switch (def.scope) {
    case Scope::kCommandLine:
      return false;
    case Scope::kGlobal:
    case Scope::kFile:
      return !in_model;
    case Scope::kModel:
      return true;
    case Scope::kFileModel:
      return in_model;
  }
  return false;
}

bool IsCalled(const OptionDef& def, std::string_view name) {
  return def.name == name || (!def.alias.empty() && def.alias == name);
}

template <typename Predicate>
const OptionDef* Find(std::string_view name, Predicate allowed) {
  const auto* const found = std::ranges::find_if(
      kOptions, [&](const OptionDef& def) { return IsCalled(def, name) && allowed(def); });
  return found == std::end(kOptions) ? nullptr : found;
}

// Only what works is suggested: the nearest name or, for "-c" and "--config", those that begin so.
template <typename Predicate>
std::string Suggest(std::string_view name, std::string_view dashes, Predicate allowed) {
  std::vector<std::string> names;
  for (const OptionDef& def : kOptions) {
    if (!IsLater(def) && allowed(def)) names.emplace_back(def.name);
  }
  const auto quoted = [&](std::string* out, const std::string& option) {
    absl::StrAppend(out, "'", std::string(dashes), option, "'");
  };
  if (const std::optional<std::string> nearest = ir::NearestName(name, names)) {
    names = {*nearest};
  } else {
    std::erase_if(names, [&](const std::string& option) { return !option.starts_with(name); });
  }
  constexpr std::size_t kMost = 5;  // more help nobody
  if (names.empty() || names.size() > kMost) return "";
  return absl::StrCat("; did you mean ", absl::StrJoin(names, " or ", quoted), "?");
}

absl::Status CheckWord(const OptionDef& def, const std::string& word) {
  if (def.kind == Kind::kFlag && !ParseBool(word)) {
    return Bad(absl::StrCat("'", word, "' is neither true nor false"));
  }
  if (def.kind == Kind::kInteger && !ParseInteger(word)) {
    return Bad(absl::StrCat("'", word, "' is not an integer"));
  }
  if (def.kind == Kind::kNumber && !ParseNumber(word)) {
    return Bad(absl::StrCat("'", word, "' is not a number"));
  }
  if (word.empty()) return Bad("the value is empty");
  return absl::OkStatus();
}

absl::Status CheckChoice(const OptionDef& def, const std::string& word) {
  const std::vector<std::string> choices = Split(def.choices, ' ');
  const std::string allowed = choices.empty() ? "" : "; allowed: " + absl::StrJoin(choices, ", ");
  const std::vector<std::string> later = Split(def.choices_later, ' ');
  if (std::ranges::count(later, word) > 0) {
    return absl::UnimplementedError(absl::StrCat("'", word, "' is not there yet", allowed));
  }
  if (choices.empty() || std::ranges::count(choices, word) > 0) return absl::OkStatus();
  return Bad(absl::StrCat("'", word, "' is not allowed", allowed));
}

bool TakesOneWord(Kind kind) {
  return kind == Kind::kFlag || kind == Kind::kText || kind == Kind::kInteger ||
         kind == Kind::kNumber || kind == Kind::kPath || kind == Kind::kPaths;
}

// The words as setters take them: lists split at their commas.
absl::StatusOr<std::vector<std::string>> CheckedWords(const OptionValue& value) {
  const OptionDef& def = *value.def;
  std::vector<std::string> words = value.words;
  if (def.kind == Kind::kList) words = Split(absl::StrJoin(value.words, ","), ',');
  if (TakesOneWord(def.kind) && words.size() != 1) {
    return Bad(absl::StrCat("takes one value, found ", words.size()));
  }
  for (const std::string& word : words) {
    absl::Status status = CheckWord(def, word);
    if (status.ok()) status = CheckChoice(def, word);
    if (!status.ok()) return status;
  }
  return words;
}

template <typename Target>
absl::Status ApplyWith(const OptionValue& value, absl::Status (*set)(Target&, Words),
                       Target& target) {
  if (set == nullptr) return absl::OkStatus();
  const absl::StatusOr<std::vector<std::string>> words = CheckedWords(value);
  const absl::Status status = words.ok() ? set(target, *words) : words.status();
  if (status.ok()) return status;
  const std::string prefix = value.where + ": ";
  return {status.code(), prefix + absl::StrReplaceAll(status.message(), {{"\n", "\n" + prefix}})};
}

}  // namespace

std::span<const OptionDef> Options() { return kOptions; }

const OptionDef* FindFlag(std::string_view name) { return Find(name, OnCommandLine); }

const OptionDef* FindKey(std::string_view name, bool in_model) {
  return Find(name, [&](const OptionDef& def) { return InFile(def, in_model); });
}

std::string SuggestFlag(std::string_view name) { return Suggest(name, "--", OnCommandLine); }

std::string SuggestKey(std::string_view name, bool in_model) {
  return Suggest(name, "", [&](const OptionDef& def) { return InFile(def, in_model); });
}

absl::Status Apply(const OptionValue& value, Settings& settings) {
  return ApplyWith(value, value.def->set, settings);
}

absl::Status Apply(const OptionValue& value, ModelOptions& model) {
  return ApplyWith(value, value.def->set_model, model);
}

bool IsLater(const OptionDef& def) { return def.kind == Kind::kLater; }

std::string NotThereYet(const OptionValue& value) {
  return value.where + ": this option of PopRT is not there yet";
}

}  // namespace poprt::cli
