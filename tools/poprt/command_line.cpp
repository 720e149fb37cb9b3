#include "tools/poprt/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace poprt::cli {
namespace {

constexpr char kDescription[] =
    "Compiles ONNX models ahead of time for the IPU. Several models are fused into one container "
    "whose input `index` selects the model that runs.";
constexpr char kFooter[] =
    "Every option but --config_yaml, --print_completion and --version is also a key of the "
    "configuration file.\nExit codes: 0 done, 1 the input is wrong, 2 wrong usage, 3 internal "
    "error.\nOptions of PopRT that are not listed are refused by name: they are not there yet.";

// "-i,--input_model" as CLI11 wants it.
std::string Spellings(const OptionDef& def) {
  std::string spellings = absl::StrCat("--", std::string(def.name));
  if (!def.alias.empty()) absl::StrAppend(&spellings, ",--", std::string(def.alias));
  if (!def.letter.empty()) spellings = absl::StrCat("-", std::string(def.letter), ",", spellings);
  return spellings;
}

bool TakesManyWords(Kind kind) {
  return kind == Kind::kPaths || kind == Kind::kList || kind == Kind::kWords ||
         kind == Kind::kPairs || kind == Kind::kFiles;
}

std::string HelpText(const OptionDef& def) {
  std::string help(def.help);
  if (def.choices.empty()) return help;
  return absl::StrCat(help, " {", std::string(def.choices), "}");
}

CLI::Option* Define(CLI::App& app, const OptionDef& def) {
  if (def.kind == Kind::kFlag) {
    CLI::Option* const flag = app.add_flag(Spellings(def));
    flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return flag->description(HelpText(def))->group(std::string(def.topic));
  }
  const CLI::callback_t keep = [](const CLI::results_t&) { return true; };
  CLI::Option* const option = app.add_option(Spellings(def), keep, HelpText(def));
  option->group(std::string(def.topic))->type_name(std::string(def.value));
  if (def.kind == Kind::kLater || TakesManyWords(def.kind)) {
    const int least = def.kind == Kind::kLater ? 0 : 1;
    option->expected(least, CLI::detail::expected_max_vector_size)->allow_extra_args(true);
  } else {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // repeats are reported below
  }
  return option;
}

std::string_view WithoutDashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// The option right before a word that belongs to none, if it has no value yet; or empty.
std::string_view OptionBefore(const std::string& word, const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view before = arguments[i - 1];
    if (arguments[i] != word || !before.starts_with("-")) continue;
    if (before.find('=') == std::string_view::npos) return before;
  }
  return {};
}

std::string UnexpectedWord(const std::string& word, std::string_view option) {
  const OptionDef* const def = FindFlag(WithoutDashes(option));
  const bool is_flag = def != nullptr && def->kind == Kind::kFlag;
  return absl::StrCat(
      "unexpected word '", word, "'",
      is_flag ? absl::StrCat(" behind ", std::string(option), ", which takes no value") : "",
      "; a model is given with --input_model, the folder of results with --output_dir");
}

// CLI11 hands back what it does not know, among it the words that follow.
void ReportUnknown(const std::vector<std::string>& words, const std::vector<std::string>& arguments,
                   Problems& problems) {
  for (const std::string& word : words) {
    if (word.starts_with("-")) {
      const std::string name = word.substr(0, word.find('='));
      problems.AddUsage(
          absl::StrCat("unknown option '", name, "'", SuggestFlag(WithoutDashes(name))));
      continue;
    }
    const std::string_view option = OptionBefore(word, arguments);
    // The value of a misspelt option.
    const bool is_value =
        FindFlag(WithoutDashes(option)) == nullptr && !SuggestFlag(WithoutDashes(option)).empty();
    if (!is_value) problems.AddUsage(UnexpectedWord(word, option));
  }
}

}  // namespace

CommandLine ParseCommandLine(std::vector<std::string> arguments, Problems& problems) {
  CommandLine line;
  CLI::App app(kDescription, "poprt");
  app.set_help_flag("-h,--help", "print this text and exit");
  app.get_formatter()->column_width(38);
  app.footer(kFooter);
  app.allow_extras();
  std::vector<std::pair<const OptionDef*, CLI::Option*>> options;
  for (const OptionDef& def : Options()) {
    if (FindFlag(def.name) == &def) options.emplace_back(&def, Define(app, def));
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    line.help = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    problems.AddUsage(error.what());
    return line;
  }
  ReportUnknown(app.remaining(), arguments, problems);
  for (const auto& [def, option] : options) {
    if (option->count() == 0) continue;
    OptionValue value{def, option->results(), absl::StrCat("--", std::string(def->name))};
    if (!IsLater(*def) && !TakesManyWords(def->kind) && value.words.size() > 1) {
      const std::string times =
          value.words.size() == 2 ? "twice" : absl::StrCat(value.words.size(), " times");
      problems.AddUsage(absl::StrCat(value.where, " is given ", times, ": give it once"));
      continue;
    }
    if (IsLater(*def)) {
      problems.AddUsage(NotThereYet(value));
    } else {
      line.values.push_back(std::move(value));
    }
  }
  return line;
}

}  // namespace poprt::cli
