#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "compiler/driver/convert.hpp"
#include "tools/poprt/settings.hpp"

namespace poprt::cli {

/// Where an option may stand.
enum class Scope : std::uint8_t {
  kCommandLine,  ///< only on the command line
  kGlobal,       ///< on the command line and at the top of a configuration file
  kModel,        ///< there and in an entry of model_fusion
  kFile,         ///< only at the top of a configuration file
  kFileModel,    ///< only in an entry of model_fusion
};

/// What is written after an option.
enum class Kind : std::uint8_t {
  kFlag,     ///< nothing; true or false in a file
  kText,     ///< one word
  kInteger,  ///< one word
  kNumber,   ///< one word
  kPath,     ///< one word
  kPaths,    ///< one or more words; one in an entry of a file
  kList,     ///< names, separated by commas or as several words; a list in a file
  kWords,    ///< one or more words; a list in a file
  kPairs,    ///< KEY=VALUE words; a list or a map in a file
  kFiles,    ///< NAME=PATH words; a list or a map in a file
  kModels,   ///< a list of maps, in a file
  kLater,    ///< anything: the option is known and refused
};

using Words = std::span<const std::string>;

/// One option. This row is all there is to know of it: the command line, the configuration file,
/// the help text and the shell completion are made from it.
struct OptionDef {
  std::string_view name;  ///< --name on the command line, `name` as a key
  Scope scope = Scope::kGlobal;
  Kind kind = Kind::kLater;
  std::string_view topic = {};  ///< heading of the help text
  std::string_view value = {};  ///< stands for the value in the help text
  std::string_view help = {};
  std::string_view letter = {};         ///< short form without its dash
  std::string_view alias = {};          ///< second name
  std::string_view choices = {};        ///< all values there are, separated by blanks; empty: any
  std::string_view choices_later = {};  ///< known values that are not there yet
  /// Takes over checked words. At most one of the two is set, according to the scope.
  absl::Status (*set)(Settings& settings, Words words) = nullptr;
  absl::Status (*set_model)(driver::ModelOptions& model, Words words) = nullptr;
};

/// One use of an option.
struct OptionValue {
  const OptionDef* def = nullptr;
  std::vector<std::string> words;  ///< of a flag: "true" or "false"
  std::string where;               ///< "--batch_size" or "config.yaml:3: batch_size"
};

/// Every option of the tool, by topic.
std::span<const OptionDef> Options();

/// The option of that name or alias that may stand on the command line, or null.
const OptionDef* FindFlag(std::string_view name);

/// The option of that name or alias that may stand in a configuration file, at the top or in an
/// entry of model_fusion, or null.
const OptionDef* FindKey(std::string_view name, bool in_model);

/// "; did you mean 'X'?" for the nearest option that may stand on the command line.
std::string SuggestFlag(std::string_view name);
/// As SuggestFlag, for keys.
std::string SuggestKey(std::string_view name, bool in_model);

/// Checks the words against the kind and choices of the option and hands them to its setter.
/// InvalidArgument says where, what was found and what is allowed; Unimplemented says that the
/// option or value is not there yet. Options without a setter of the matching scope are ignored.
absl::Status Apply(const OptionValue& value, Settings& settings);
absl::Status Apply(const OptionValue& value, driver::ModelOptions& model);

/// True if the option is known but not there yet.
bool IsLater(const OptionDef& def);

/// The message of such an option.
std::string NotThereYet(const OptionValue& value);

}  // namespace poprt::cli
