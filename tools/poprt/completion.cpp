#include "tools/poprt/completion.hpp"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/poprt/cli_options.hpp"

namespace poprt::cli {
namespace {

bool IsOffered(const OptionDef& def) { return !IsLater(def) && FindFlag(def.name) == &def; }

bool TakesPath(const OptionDef& def) { return def.kind == Kind::kPath || def.kind == Kind::kPaths; }

// Words with a path behind '='. Bash takes what follows '=' for a word of its own.
bool TakesNamedPath(const OptionDef& def) { return def.kind == Kind::kFiles; }

// "-i|--input_model": the spellings after which a value of the option is completed.
std::string Pattern(const OptionDef& def) {
  std::string pattern = absl::StrCat("--", std::string(def.name));
  if (!def.letter.empty()) pattern = absl::StrCat("-", std::string(def.letter), "|", pattern);
  if (!def.alias.empty()) absl::StrAppend(&pattern, "|--", std::string(def.alias));
  return pattern;
}

std::string BashScript() {
  std::string names = "--help";
  std::string cases;
  for (const OptionDef& def : Options()) {
    if (!IsOffered(def)) continue;
    absl::StrAppend(&names, " --", std::string(def.name));
    if (!def.choices.empty()) {
      absl::StrAppend(&cases, "    ", Pattern(def), ") COMPREPLY=($(compgen -W \"",
                      std::string(def.choices), "\" -- \"$word\")); return ;;\n");
    } else if (TakesPath(def)) {
      absl::StrAppend(&cases, "    ", Pattern(def),
                      ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
    }
  }
  return absl::StrCat(
      "_poprt() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\"\n"
      "  case \"${COMP_WORDS[COMP_CWORD-1]}\" in\n",
      cases,
      "    =) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"",
      names,
      "\" -- \"$word\"))\n"
      "}\n"
      "complete -o filenames -F _poprt poprt\n");
}

// In a zsh argument specification brackets and colons have meanings, and quotes end it.
std::string ZshText(std::string_view text) {
  return absl::StrReplaceAll(absl::string_view(text.data(), text.size()),
                             {{"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"'", "'\\''"}});
}

std::string ZshSpec(const OptionDef& def, const std::string& spelling) {
  std::string spec = absl::StrCat("    '*", spelling, "[", ZshText(def.help), "]");
  if (def.kind != Kind::kFlag) {
    absl::StrAppend(&spec, ":", ZshText(def.value), ":");
    if (!def.choices.empty()) {
      absl::StrAppend(&spec, "(", std::string(def.choices), ")");
    } else if (TakesPath(def)) {
      absl::StrAppend(&spec, "_files");
    } else if (TakesNamedPath(def)) {
      absl::StrAppend(&spec, "{compset -P \"*=\"; _files}");
    }
  }
  return spec + "' \\\n";
}

std::string ZshScript() {
  std::string script = "#compdef poprt\n_poprt() {\n  _arguments \\\n";
  for (const OptionDef& def : Options()) {
    if (!IsOffered(def)) continue;
    if (!def.letter.empty()) script += ZshSpec(def, absl::StrCat("-", std::string(def.letter)));
    script += ZshSpec(def, absl::StrCat("--", std::string(def.name)));
  }
  script +=
      "    '(- *)--help[print help and exit]'\n"
      "}\n"
      "compdef _poprt poprt\n";
  return script;
}

}  // namespace

std::string CompletionScript(std::string_view shell) {
  return shell == "bash" ? BashScript() : ZshScript();
}

}  // namespace poprt::cli
