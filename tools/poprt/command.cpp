#include "tools/poprt/command.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/poprt/completion.hpp"
#include "tools/poprt/convert_and_compile.hpp"
#include "tools/poprt/json_summary.hpp"
#include "tools/poprt/pass_list.hpp"
#include "tools/poprt/resolve_settings.hpp"
#include "tools/poprt/text_summary.hpp"
#include "tools/poprt/words.hpp"

namespace poprt::cli {
namespace {

int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return kInternalError;
    default:
      return kWrongInput;
  }
}

int Fail(const Terminal& terminal, bool json, int exit_code,
         const std::vector<std::string>& errors) {
  for (const std::string& error : errors) WriteError(terminal.err, error);
  if (json) {
    const std::vector<std::string> lines = Split(absl::StrJoin(errors, "\n"), '\n');
    terminal.out << JsonErrors(exit_code, lines);
  }
  return exit_code;
}

int Fail(const Terminal& terminal, bool json, const absl::Status& status) {
  return Fail(terminal, json, ExitCode(status), {std::string(status.message())});
}

int Print(const Terminal& terminal, const std::string& text) {
  terminal.out << text << std::flush;
  return kDone;
}

int Show(const Settings& settings, const Terminal& terminal) {
  std::vector<ModelInterface> interfaces;
  std::vector<std::string> paths;
  std::vector<std::string> names;
  Problems problems;
  for (const driver::ModelOptions& model : settings.models) {
    absl::StatusOr<ModelInterface> interface = ReadModelInterface(model.path);
    if (!interface.ok()) {
      problems.AddInput(std::string(interface.status().message()));
      continue;
    }
    MarkFrozen(model.freeze_input, *interface);
    const std::string stem = std::filesystem::path(model.path).stem().string();
    const std::string number = absl::StrCat("graph", names.size());
    names.push_back(!model.name.empty() ? model.name : settings.fuse ? number : stem);
    paths.push_back(model.path);
    interfaces.push_back(*std::move(interface));
  }
  if (!problems.empty()) {
    return Fail(terminal, settings.json, problems.exit_code(), problems.messages());
  }
  if (settings.json) return Print(terminal, JsonInterfaces(names, paths, interfaces));
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    if (interfaces.size() > 1) terminal.out << paths[i] << '\n';
    Print(terminal, ToText(interfaces[i]));
  }
  return kDone;
}

int RunJob(const Settings& settings, const Terminal& terminal) {
  const absl::StatusOr<Outcome> outcome = ConvertAndCompile(settings, terminal);
  if (!outcome.ok()) return Fail(terminal, settings.json, outcome.status());
  return Print(terminal, settings.json ? JsonSummary(*outcome) : TextSummary(*outcome));
}

int RunSettings(const Settings& settings, const Terminal& terminal) {
  if (settings.version) return Print(terminal, "poprt " POPRT_VERSION "\n");
  if (!settings.print_completion.empty()) {
    return Print(terminal, CompletionScript(settings.print_completion));
  }
  if (settings.list_all_passes) {
    return Print(terminal, settings.json ? PassJson() : PassTable());
  }
  if (settings.show) {
    const int code = Show(settings, terminal);
    if (code != kDone || !(settings.export_popef || settings.run)) return code;
  }
  return RunJob(settings, terminal);
}

// Some models are missing; says what is wrong with those that are there.
void CheckOtherModels(const Settings& settings, Problems& problems) {
  std::vector<driver::ModelOptions> models = settings.models;
  std::erase_if(models, [](const driver::ModelOptions& model) {
    std::error_code error;
    return !std::filesystem::is_regular_file(model.path, error);
  });
  if (models.empty() || settings.show) return;
  const auto converted = driver::Convert(
      models, /*fuse=*/true, [](const std::string&, int, int) {}, [](const std::string&) {});
  if (!converted.ok()) problems.AddInput(std::string(converted.status().message()));
}

int ParseAndRun(const std::vector<std::string>& arguments, const Terminal& terminal) {
  Problems problems;
  const CommandLine line = ParseCommandLine(arguments, problems);
  if (line.help) return Print(terminal, *line.help);
  ConfigFile config;
  const auto config_yaml = std::ranges::find_if(
      line.values, [](const OptionValue& value) { return value.def->name == "config_yaml"; });
  if (config_yaml != line.values.end()) {
    config = ReadConfigFile(config_yaml->words.front(), problems);
  }
  const Settings settings = ResolveSettings(line, config, ReadModelInterface, problems);
  if (problems.empty()) return RunSettings(settings, terminal);
  if (problems.only_missing_models()) CheckOtherModels(settings, problems);
  return Fail(terminal, settings.json, problems.exit_code(), problems.messages());
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments, const Terminal& terminal) {
  try {
    return ParseAndRun(arguments, terminal);
  } catch (const std::exception& error) {
    WriteError(terminal.err, absl::StrCat("internal error: ", error.what()));
    return kInternalError;
  }
}

}  // namespace poprt::cli
