#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/poprt/cli_options.hpp"
#include "tools/poprt/problems.hpp"

namespace poprt::cli {

/// What stands in a configuration file.
struct ConfigFile {
  std::string path;
  std::vector<OptionValue> values;               ///< keys at the top, in the order of the file
  bool fusion = false;                           ///< there is a list `model_fusion`
  std::vector<std::vector<OptionValue>> models;  ///< its entries
  std::set<std::size_t> damaged_models;          ///< entries of which something was not understood
};

/// Reads a configuration file. Everything wrong with it becomes a problem that names file, line and
/// key: unknown keys (with the nearest valid one), wrong types, repeated keys, options that are not
/// there yet.
ConfigFile ReadConfigFile(const std::string& path, Problems& problems);

/// As ReadConfigFile for the text of a file.
ConfigFile ParseConfig(const std::string& path, const std::string& text, Problems& problems);

}  // namespace poprt::cli
