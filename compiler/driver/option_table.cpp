#include "compiler/driver/option_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/ir/nearest_name.hpp"

namespace poprt::driver {
namespace {

using compiler::CompilerOptions;
using nlohmann::json;

constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostIoTiles = 1470;
constexpr std::int64_t kFewestIoTiles = 32;

std::string Str(std::string_view text) { return std::string(text); }

absl::Status Bad(const std::string& reason) { return absl::InvalidArgumentError(reason); }

// The member behind a pointer to member of CompilerOptions.
template <auto Member>
using MemberType = std::remove_reference_t<decltype(std::declval<CompilerOptions&>().*Member)>;

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The shortest text that reads back as the same number.
std::string NumberText(double number) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return error == std::errc() ? std::string(buffer.data(), end) : std::to_string(number);
}

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number)) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"true", "True", "TRUE", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "FALSE", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

template <auto Member>
absl::Status SetBool(CompilerOptions& options, std::string_view value) {
  const std::optional<bool> parsed = ParseBool(value);
  if (!parsed) return Bad("not true or false");
  options.*Member = *parsed;
  return absl::OkStatus();
}

template <auto Member>
std::string GetBool(const CompilerOptions& options) {
  return options.*Member ? "true" : "false";
}

template <auto Member, std::int64_t Least, std::int64_t Most = kMaxInteger>
absl::Status SetInteger(CompilerOptions& options, std::string_view value) {
  const std::optional<std::int64_t> parsed = ParseInteger(value);
  if (!parsed) return Bad("not an integer");
  if (*parsed < Least || *parsed > Most) return Bad("out of range");
  options.*Member = *parsed;
  return absl::OkStatus();
}

template <auto Member>
std::string GetInteger(const CompilerOptions& options) {
  return std::to_string(options.*Member);
}

absl::Status SetNumIpus(CompilerOptions& options, std::string_view value) {
  const std::optional<std::int64_t> parsed = ParseInteger(value);
  if (!parsed) return Bad("not an integer");
  if (*parsed < 1 || *parsed > compiler::kMostIpus) return Bad("out of range");
  options.numIpus = *parsed;
  return absl::OkStatus();
}

absl::Status SetAutoSharding(CompilerOptions& options, std::string_view value) {
  const std::optional<std::int64_t> parsed = ParseInteger(value);
  if (!parsed) return Bad("not an integer");
  if (*parsed != 0 && (*parsed < 2 || *parsed > compiler::kMostIpus)) return Bad("out of range");
  options.autoSharding = *parsed;
  return absl::OkStatus();
}

constexpr std::string_view kAuto = "auto";

absl::Status SetNumIoTiles(CompilerOptions& options, std::string_view value) {
  if (value == kAuto) {
    options.numIoTiles = compiler::kAutoIoTiles;
    return absl::OkStatus();
  }
  const std::optional<std::int64_t> parsed = ParseInteger(value);
  if (!parsed) return Bad("not an integer");
  if (*parsed % 2 != 0) return Bad("not even");
  if (*parsed != 0 && (*parsed < kFewestIoTiles || *parsed > kMostIoTiles)) {
    return Bad("out of range");
  }
  options.numIoTiles = *parsed;
  return absl::OkStatus();
}

std::string GetNumIoTiles(const CompilerOptions& options) {
  if (options.numIoTiles == compiler::kAutoIoTiles) return Str(kAuto);
  return std::to_string(options.numIoTiles);
}

// Any finite number, or only those greater than 0 and at most `Most` when `Most` is positive.
template <auto Member, bool Positive = false, int Most = 0>
absl::Status SetNumber(CompilerOptions& options, std::string_view value) {
  const std::optional<double> parsed = ParseNumber(value);
  if (!parsed) return Bad("not a number");
  if (Positive && *parsed <= 0) return Bad("out of range");
  if (Most > 0 && *parsed > Most) return Bad("out of range");
  options.*Member = *parsed;
  return absl::OkStatus();
}

template <auto Member>
std::string GetNumber(const CompilerOptions& options) {
  return NumberText(options.*Member);
}

template <auto Member>
absl::Status SetText(CompilerOptions& options, std::string_view value) {
  options.*Member = Str(value);
  return absl::OkStatus();
}

template <auto Member>
std::string GetText(const CompilerOptions& options) {
  return options.*Member;
}

absl::Status SetPartialsType(CompilerOptions& options, std::string_view value) {
  if (value != "half" && value != "float") return Bad("not one of them");
  return SetText<&CompilerOptions::partialsType>(options, value);
}

absl::Status SetIpuVersion(CompilerOptions& options, std::string_view value) {
  if (!value.empty() && value != "ipu1" && value != "ipu2" && value != "ipu21") {
    return Bad("not a known IPU");
  }
  return SetText<&CompilerOptions::ipuVersion>(options, value);
}

absl::Status SetVirtualGraphMode(CompilerOptions& options, std::string_view value) {
  if (value != "off" && value != "auto" && value != "manual") return Bad("not one of them");
  return SetText<&CompilerOptions::virtualGraphMode>(options, value);
}

// One element of a list or map from its text; nothing when the text is none.
template <typename T>
std::optional<T> ParseElement(std::string_view text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return Str(text);
  } else if constexpr (std::is_same_v<T, bool>) {
    return ParseBool(text);
  } else {
    return ParseNumber(text);
  }
}

// The text of a JSON scalar: strings bare, everything else as JSON writes it.
std::optional<std::string> ScalarText(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_structured() || value.is_null()) return std::nullopt;
  return value.dump();
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

absl::Status ReadJsonMap(std::string_view text, std::map<std::string, std::string>& entries) {
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Bad("starts like JSON but is no JSON object");
  for (const auto& [key, value] : parsed.items()) {
    const std::optional<std::string> scalar = ScalarText(value);
    if (!scalar) return Bad(absl::StrCat("the value of '", key, "' is no text or number"));
    entries[key] = *scalar;
  }
  return absl::OkStatus();
}

absl::Status ReadPairs(std::string_view text, std::map<std::string, std::string>& entries) {
  for (const std::string_view pair : SplitAt(text, ';')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Bad(absl::StrCat("'", Str(pair), "' is not KEY=VALUE"));
    }
    if (!entries.emplace(Str(pair.substr(0, equals)), Str(pair.substr(equals + 1))).second) {
      return Bad(absl::StrCat("'", Str(pair.substr(0, equals)), "' stands there twice"));
    }
  }
  return absl::OkStatus();
}

template <auto Member>
absl::Status SetMap(CompilerOptions& options, std::string_view value) {
  std::map<std::string, std::string> entries;
  const absl::Status read =
      value.starts_with('{') ? ReadJsonMap(value, entries) : ReadPairs(value, entries);
  if (!read.ok()) return read;
  MemberType<Member> result;
  for (const auto& [key, text] : entries) {
    const auto element = ParseElement<typename MemberType<Member>::mapped_type>(text);
    if (!element) return Bad(absl::StrCat("the value of '", key, "' is not true or false"));
    result[key] = *element;
  }
  options.*Member = std::move(result);
  return absl::OkStatus();
}

// Bytes that are no UTF-8 (a blob may hold any) cannot stand in JSON and are replaced.
std::string JsonText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <auto Member>
std::string GetMap(const CompilerOptions& options) {
  json object = json::object();
  for (const auto& [key, value] : options.*Member) object[key] = value;
  return JsonText(object);
}

absl::Status ReadList(std::string_view text, std::vector<std::string>& elements) {
  if (!text.starts_with('[')) {
    for (const std::string_view part : SplitAt(text, ',')) elements.push_back(Str(part));
    return absl::OkStatus();
  }
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_array()) return Bad("starts like JSON but is no JSON array");
  for (const json& value : parsed) {
    const std::optional<std::string> scalar = ScalarText(value);
    if (!scalar) return Bad("an element of the JSON array is no text or number");
    elements.push_back(*scalar);
  }
  return absl::OkStatus();
}

template <auto Member>
absl::Status SetList(CompilerOptions& options, std::string_view value) {
  std::vector<std::string> elements;
  const absl::Status read = ReadList(value, elements);
  if (!read.ok()) return read;
  MemberType<Member> result;
  for (const std::string& text : elements) {
    const auto element = ParseElement<typename MemberType<Member>::value_type>(text);
    if (!element) return Bad(absl::StrCat("'", text, "' is not a number"));
    result.push_back(*element);
  }
  options.*Member = std::move(result);
  return absl::OkStatus();
}

template <auto Member>
std::string GetList(const CompilerOptions& options) {
  json array = json::array();
  for (const auto& value : options.*Member) array.push_back(value);
  return JsonText(array);
}

using O = CompilerOptions;

template <auto Member>
constexpr CompilerOptionDef BoolOption(std::string_view name, bool effective = false) {
  return {name, "true or false", effective, SetBool<Member>, GetBool<Member>};
}

template <auto Member>
constexpr CompilerOptionDef CountOption(std::string_view name, bool effective = false) {
  return {name, "an integer >= 1", effective, SetInteger<Member, 1>, GetInteger<Member>};
}

constexpr std::string_view kTextMap = R"({"KEY": "VALUE", ...} or KEY=VALUE;KEY=VALUE)";
constexpr std::string_view kSwitchMap = R"({"KEY": true, ...} or KEY=true;KEY=false)";
constexpr std::string_view kTextList = R"(["a", "b"] or a,b)";
constexpr std::string_view kNumberList = "[1, 2] or 1,2";

// One row an option, ordered by name.
constexpr CompilerOptionDef kTable[] = {
    BoolOption<&O::allowOutOfMemory>("allow_out_of_memory", true),
    {"auto_sharding", "0, or an integer from 2 to 64", true, SetAutoSharding,
     GetInteger<&O::autoSharding>},
    {"available_memory_proportion", "a number in (0, 1]", true,
     SetNumber<&O::availableMemoryProportion, true, 1>, GetNumber<&O::availableMemoryProportion>},
    CountOption<&O::batchesPerStep>("batches_per_step", true),
    {"cache_path", "a path", false, SetText<&O::cachePath>, GetText<&O::cachePath>},
    BoolOption<&O::constantWeights>("constant_weights", true),
    {"custom_patterns", kTextList, false, SetList<&O::customPatterns>, GetList<&O::customPatterns>},
    {"custom_transform_applier_settings", kSwitchMap, false,
     SetMap<&O::customTransformApplierSettings>, GetMap<&O::customTransformApplierSettings>},
    BoolOption<&O::enableEngineCaching>("enable_engine_caching"),
    BoolOption<&O::enableFastReduce>("enable_fast_reduce", true),
    BoolOption<&O::enableGatherSimplifier>("enable_gather_simplifier"),
    BoolOption<&O::enableModelFusion>("enable_model_fusion", true),
    BoolOption<&O::enableMultiStageReduce>("enable_multi_stage_reduce", true),
    BoolOption<&O::enableNonStableSoftmax>("enable_non_stable_softmax", true),
    BoolOption<&O::enableOutlining>("enable_outlining", true),
    BoolOption<&O::enablePipelining>("enable_pipelining", true),
    BoolOption<&O::enablePrefetchDatastreams>("enable_prefetch_datastreams"),
    {"engine_options", kTextMap, true, SetMap<&O::engineOptions>, GetMap<&O::engineOptions>},
    BoolOption<&O::groupHostSync>("group_host_sync"),
    {"ipu_version", "ipu1, ipu2 or ipu21", true, SetIpuVersion, GetText<&O::ipuVersion>},
    {"num_io_tiles", "auto, 0, or an even integer from 32 to 1470", true, SetNumIoTiles,
     GetNumIoTiles},
    {"num_ipus", "an integer from 1 to 64", true, SetNumIpus, GetInteger<&O::numIpus>},
    {"opaque_blobs", kTextMap, true, SetMap<&O::opaqueBlobs>, GetMap<&O::opaqueBlobs>},
    {"outline_threshold", "a number", true, SetNumber<&O::outlineThreshold>,
     GetNumber<&O::outlineThreshold>},
    {"partials_type", "half or float", true, SetPartialsType, GetText<&O::partialsType>},
    {"platform", "the name of one in the target's description", true, SetText<&O::platform>,
     GetText<&O::platform>},
    BoolOption<&O::rearrangeAnchorsOnHost>("rearrange_anchors_on_host"),
    BoolOption<&O::rearrangeStreamsOnHost>("rearrange_streams_on_host"),
    BoolOption<&O::serializeIr>("serialize_ir"),
    {"serialized_ir_dest", "a path", false, SetText<&O::serializedIrDest>,
     GetText<&O::serializedIrDest>},
    BoolOption<&O::showCompilationProgressBar>("show_compilation_progress_bar", true),
    CountOption<&O::streamBufferingDepth>("stream_buffering_depth"),
    {"subgraph_copying_strategy", "an integer >= 0", false,
     SetInteger<&O::subgraphCopyingStrategy, 0>, GetInteger<&O::subgraphCopyingStrategy>},
    {"swap_limit_scheduler", "an integer >= 0", false, SetInteger<&O::swapLimitScheduler, 0>,
     GetInteger<&O::swapLimitScheduler>},
    {"target_config", "a path", true, SetText<&O::targetConfig>, GetText<&O::targetConfig>},
    {"time_limit_scheduler", "a number > 0", false, SetNumber<&O::timeLimitScheduler, true>,
     GetNumber<&O::timeLimitScheduler>},
    {"transitive_closure_optimization_threshold", "an integer >= 0", false,
     SetInteger<&O::transitiveClosureOptimizationThreshold, 0>,
     GetInteger<&O::transitiveClosureOptimizationThreshold>},
    BoolOption<&O::use128bitConvUnitLoad>("use_128bit_conv_unit_load", true),
    {"virtual_graph_mode", "off, auto or manual", true, SetVirtualGraphMode,
     GetText<&O::virtualGraphMode>},
    {"virtual_graph_split_ratios", kNumberList, false, SetList<&O::virtualGraphSplitRatios>,
     GetList<&O::virtualGraphSplitRatios>},
};

absl::Status UnknownOption(std::string_view name) {
  std::vector<std::string> names;
  for (const CompilerOptionDef& def : kTable) names.push_back(Str(def.name));
  const std::optional<std::string> nearest = ir::NearestName(name, names);
  return Bad(absl::StrCat("unknown compiler option '", Str(name), "'",
                          nearest ? "; did you mean '" + *nearest + "'?" : ""));
}

}  // namespace

std::span<const CompilerOptionDef> CompilerOptionTable() { return kTable; }

absl::Status SetCompilerOption(CompilerOptions& options, std::string_view name,
                               std::string_view value) {
  const auto* const def = std::ranges::find(kTable, name, &CompilerOptionDef::name);
  if (def == std::end(kTable)) return UnknownOption(name);
  const absl::Status set = def->set(options, value);
  if (set.ok()) return set;
  const absl::string_view reason = set.message();
  return Bad(absl::StrCat("compiler option '", Str(name), "' is '", Str(value), "', ", reason,
                          "; allowed: ", Str(def->values)));
}

std::vector<std::string> IneffectiveOptions(const CompilerOptions& options) {
  const CompilerOptions defaults;
  std::vector<std::string> names;
  for (const CompilerOptionDef& def : kTable) {
    if (!def.effective && def.get(options) != def.get(defaults)) names.push_back(Str(def.name));
  }
  return names;
}

}  // namespace poprt::driver
