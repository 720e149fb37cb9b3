#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/convert.hpp"
#include "poprt/compiler/compiler_options.hpp"
#include "tools/poprt/logging.hpp"

namespace poprt::cli {

/// What one run of the tool does: the command line and the configuration file, taken together.
struct Settings {
  std::vector<driver::ModelOptions> models;
  bool fuse = false;

  std::optional<int> convert_version;  ///< absent: as old as possible, from 17 on
  std::string output_dir = "./";
  std::string output_model;  ///< file name; empty until it is resolved
  bool export_popef = false;
  bool run = false;
  bool show = false;
  bool json = false;
  bool report = false;
  std::string profile_dir;  ///< empty: no reports are written
  bool perf_tuner = false;
  std::string perf_tuner_cache;  ///< empty: what is measured is not kept
  LogLevel logging_level = LogLevel::kWarning;

  bool list_all_passes = false;
  bool version = false;
  std::string print_completion;  ///< "bash", "zsh" or empty

  compiler::CompilerOptions compiler;
  /// Keys that --compiler_options names.
  std::set<std::string> compiler_keys;
};

}  // namespace poprt::cli
