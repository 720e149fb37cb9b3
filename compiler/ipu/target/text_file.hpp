#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace poprt::ipu {

/// The text of a small file that a user wrote, at most 1 MiB. Errors name it: "target file 'x.yaml'
/// can't be read: No such file or directory"; `kind` is "target file".
absl::StatusOr<std::string> ReadTextFile(std::string_view kind, const std::string& path);

}  // namespace poprt::ipu
