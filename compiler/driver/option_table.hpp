#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "poprt/compiler/compiler_options.hpp"

namespace poprt::driver {

/// One member of CompilerOptions under its public (snake_case) name.
struct CompilerOptionDef {
  std::string_view name;
  std::string_view
      values;  ///< what may be written, for messages: "an integer >= 1", "half or float"
  /// True if it changes what the compiler or the model device does; others are recorded only.
  bool effective = false;
  absl::Status (*set)(compiler::CompilerOptions& options, std::string_view value) = nullptr;
  /// The value as text, in the form `set` reads.
  std::string (*get)(const compiler::CompilerOptions& options) = nullptr;
};

/// Every option that can be written as KEY=VALUE, ordered by name.
std::span<const CompilerOptionDef> CompilerOptionTable();

/// Sets one option from text. InvalidArgument names the key, what was found and what is allowed,
/// and suggests the nearest key for an unknown one.
absl::Status SetCompilerOption(compiler::CompilerOptions& options, std::string_view name,
                               std::string_view value);

/// Names of options that differ from their default and that nothing acts on.
std::vector<std::string> IneffectiveOptions(const compiler::CompilerOptions& options);

}  // namespace poprt::driver
