#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/poprt/cli_options.hpp"
#include "tools/poprt/problems.hpp"

namespace poprt::cli {

/// What stands on the command line.
struct CommandLine {
  std::vector<OptionValue> values;  ///< in the order of the option table
  std::optional<std::string> help;  ///< the help text, if it is asked for
};

/// Reads the arguments after the program's name. Unknown options, stray words, missing values and
/// options that are not there yet become problems.
CommandLine ParseCommandLine(std::vector<std::string> arguments, Problems& problems);

}  // namespace poprt::cli
