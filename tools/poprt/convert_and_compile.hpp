#pragma once

#include "absl/status/statusor.h"
#include "tools/poprt/outcome.hpp"
#include "tools/poprt/settings.hpp"
#include "tools/poprt/terminal.hpp"

namespace poprt::cli {

/// Converts the models, writes the converted model and, as the settings ask, compiles, writes the
/// container and runs it. Progress and log messages go to the terminal's error stream. An output
/// folder that cannot be written is found out before any work; files appear only when complete.
absl::StatusOr<Outcome> ConvertAndCompile(const Settings& settings, const Terminal& terminal);

}  // namespace poprt::cli
