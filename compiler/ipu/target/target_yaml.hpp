#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ipu/target/target.hpp"

namespace poprt::ipu {

/// The target that the text of a target file describes (see LoadTargetFile); `file` stands for it
/// in messages.
absl::StatusOr<Target> ParseTargetYaml(std::string_view yaml, std::string_view file);

}  // namespace poprt::ipu
