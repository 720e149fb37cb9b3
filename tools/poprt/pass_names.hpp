#pragma once

#include <string>

#include "absl/status/status.h"

namespace poprt::cli {

/// Unimplemented for a pass that PopRT has and this compiler has not yet, InvalidArgument with the
/// nearest name for any other that does not exist.
absl::Status CheckPassName(const std::string& name);

/// InvalidArgument with the nearest name for an operator that does not exist.
absl::Status CheckOperatorName(const std::string& name);

}  // namespace poprt::cli
