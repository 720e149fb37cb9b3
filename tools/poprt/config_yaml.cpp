#include "tools/poprt/config_yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/poprt/input_file.hpp"
#include "tools/poprt/words.hpp"

namespace poprt::cli {
namespace {

// What a node is, in the words of someone who wrote it.
std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  return absl::StrCat("'", node.Scalar(), "'");
}

std::string_view Wanted(Kind kind) {
  switch (kind) {
    case Kind::kFlag:
      return "true or false";
    case Kind::kInteger:
      return "an integer";
    case Kind::kNumber:
      return "a number";
    case Kind::kPath:
    case Kind::kPaths:
      return "a path";
    case Kind::kList:
      return "a list of names";
    case Kind::kWords:
      return "a list like ['NAME=1,512']";
    case Kind::kPairs:
      return "a map or a list like ['KEY=VALUE']";
    case Kind::kFiles:
      return "a map or a list like ['NAME=PATH']";
    case Kind::kModels:
      return "a list of maps, one for each model";
    case Kind::kText:
    case Kind::kLater:
      break;
  }
  return "one value";
}

bool IsScalarOfKind(const std::string& text, Kind kind) {
  if (kind == Kind::kFlag) return ParseBool(text).has_value();
  if (kind == Kind::kInteger) return ParseInteger(text).has_value();
  if (kind == Kind::kNumber) return ParseNumber(text).has_value();
  return true;
}

bool TakesMap(Kind kind) { return kind == Kind::kPairs || kind == Kind::kFiles; }

bool TakesList(Kind kind) { return kind == Kind::kList || kind == Kind::kWords || TakesMap(kind); }

// A value of compiler_options. A map or list in it becomes JSON, which is how such options are
// written as text; nothing when it is nested deeper than that.
std::optional<std::string> PairText(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  nlohmann::ordered_json json;
  if (node.IsSequence()) {
    json = nlohmann::ordered_json::array();
    for (const YAML::Node& element : node) {
      if (!element.IsScalar()) return std::nullopt;
      json.push_back(element.Scalar());
    }
  } else if (node.IsMap()) {
    json = nlohmann::ordered_json::object();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) return std::nullopt;
      json[entry.first.Scalar()] = entry.second.Scalar();
    }
  } else {
    return std::nullopt;
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class ConfigReader {
 public:
  ConfigReader(ConfigFile& config, Problems& problems) : config_(config), problems_(problems) {}

  void ReadTop(const YAML::Node& root) {
    if (!root.IsMap()) {
      problems_.AddUsage(
          absl::StrCat(config_.path, ": found ", Describe(root), ", expected keys with values"));
      return;
    }
    config_.values = ReadMap(root, /*in_model=*/false);
  }

 private:
  std::string At(const YAML::Node& node, const std::string& key) const {
    return absl::StrCat(config_.path, ":", node.Mark().line + 1, ": ", key);
  }

  // The values of one map: the top of the file or an entry of model_fusion.
  std::vector<OptionValue> ReadMap(const YAML::Node& map, bool in_model) {
    std::vector<OptionValue> values;
    std::map<const OptionDef*, int> lines;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) {
        problems_.AddUsage(At(entry.first, "a key must be a name"));
        continue;
      }
      const std::string& key = entry.first.Scalar();
      const std::string where = At(entry.first, key);
      const OptionDef* const def = FindKey(key, in_model);
      if (def == nullptr) {
        problems_.AddUsage(UnknownKey(entry.first, in_model));
        continue;
      }
      const int line = entry.first.Mark().line + 1;
      if (const auto [first, added] = lines.emplace(def, line); !added) {
        problems_.AddUsage(absl::StrCat(where, ": is given twice, first in line ", first->second));
        continue;
      }
      ReadValue({def, {}, where}, entry.second, values);
    }
    return values;
  }

  std::string UnknownKey(const YAML::Node& node, bool in_model) const {
    const std::string& key = node.Scalar();
    if (in_model && FindKey(key, false) != nullptr) {
      return At(node, key) + ": stands for all models: move it out of model_fusion";
    }
    if (!in_model && FindKey(key, true) != nullptr) {
      return At(node, key) + ": belongs to one model: move it into an entry of model_fusion";
    }
    if (FindFlag(key) != nullptr) return At(node, key) + ": is for the command line only";
    return At(node, absl::StrCat("unknown key '", key, "'", SuggestKey(key, in_model)));
  }

  void ReadValue(OptionValue value, const YAML::Node& node, std::vector<OptionValue>& values) {
    if (IsLater(*value.def)) {
      problems_.AddUsage(NotThereYet(value));
    } else if (value.def->kind == Kind::kModels) {
      ReadModels(value, node);
    } else if (ReadWords(*value.def, node, value.words)) {
      values.push_back(std::move(value));
    } else {
      ReportType(value, node);
    }
  }

  void ReportType(const OptionValue& value, const YAML::Node& node) {
    problems_.AddUsage(absl::StrCat(value.where, ": found ", Describe(node), ", expected ",
                                    std::string(Wanted(value.def->kind))));
  }

  void ReadModels(const OptionValue& value, const YAML::Node& node) {
    config_.fusion = true;
    if (!node.IsSequence() || node.size() == 0) return ReportType(value, node);
    for (const YAML::Node& entry : node) {
      if (entry.IsMap()) {
        const std::size_t problems_before = problems_.messages().size();
        config_.models.push_back(ReadMap(entry, /*in_model=*/true));
        if (problems_.messages().size() > problems_before) {
          config_.damaged_models.insert(config_.models.size() - 1);
        }
      } else {
        problems_.AddUsage(absl::StrCat(At(entry, "model_fusion"), ": found ", Describe(entry),
                                        ", expected the keys of one model"));
      }
    }
  }

  // False when the node is not of the type the option takes.
  static bool ReadWords(const OptionDef& def, const YAML::Node& node,
                        std::vector<std::string>& words) {
    if (node.IsScalar()) {
      words = {node.Scalar()};
      return IsScalarOfKind(node.Scalar(), def.kind);
    }
    if (node.IsSequence() && TakesList(def.kind)) {
      for (const YAML::Node& element : node) {
        if (!element.IsScalar()) return false;
        words.push_back(element.Scalar());
      }
      return true;
    }
    if (!node.IsMap() || !TakesMap(def.kind)) return false;
    for (const auto& entry : node) {
      const std::optional<std::string> text = PairText(entry.second);
      if (def.kind == Kind::kFiles && !entry.second.IsScalar()) return false;
      if (!entry.first.IsScalar() || !text) return false;
      words.push_back(absl::StrCat(entry.first.Scalar(), "=", *text));
    }
    return true;
  }

  ConfigFile& config_;
  Problems& problems_;
};

}  // namespace

ConfigFile ReadConfigFile(const std::string& path, Problems& problems) {
  if (!FileExists(path)) {
    problems.AddInput(absl::StrCat("--config_yaml: ", WhyNoFile(path, "config.yaml")));
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    problems.AddInput(absl::StrCat("--config_yaml: '", path, "' can't be read"));
    return {};
  }
  std::ostringstream text;
  text << file.rdbuf();
  return ParseConfig(path, text.str(), problems);
}

ConfigFile ParseConfig(const std::string& path, const std::string& text, Problems& problems) {
  ConfigFile config;
  config.path = path;
  if (text.find('\0') != std::string::npos) {
    problems.AddInput(absl::StrCat(
        path, ": this is no YAML but a binary file; a model is given with --input_model"));
    return config;
  }
  try {
    ConfigReader(config, problems).ReadTop(YAML::Load(text));
  } catch (const YAML::ParserException& error) {
    problems.AddInput(
        absl::StrCat(path, ":", error.mark.line + 1, ": this is no YAML: ", error.msg));
  } catch (const YAML::Exception& error) {
    problems.AddInput(absl::StrCat(path, ": this is no YAML: ", error.what()));
  }
  return config;
}

}  // namespace poprt::cli
