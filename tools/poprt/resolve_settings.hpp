#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/poprt/command_line.hpp"
#include "tools/poprt/config_yaml.hpp"
#include "tools/poprt/model_interface.hpp"
#include "tools/poprt/problems.hpp"
#include "tools/poprt/settings.hpp"

namespace poprt::cli {

/// Reads the inputs of a model; asked only when a shape is meant for whichever model has the input.
using InterfaceReader = std::function<absl::StatusOr<ModelInterface>(const std::string& path)>;

/// Puts the command line over the configuration file.
///
/// Of options of a model the nearest counts: the command line, then the entry of model_fusion, then
/// the top of the file. Shapes on the command line replace those of the same inputs only. Models
/// named by the file are looked for in the working directory, then beside the file; missing ones
/// are problems.
Settings ResolveSettings(const CommandLine& line, const ConfigFile& config,
                         const InterfaceReader& read_interface, Problems& problems);

}  // namespace poprt::cli
