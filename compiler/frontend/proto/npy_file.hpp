#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/frontend/import_value.hpp"

namespace poprt::frontend {

/// The array of a NumPy .npy file of version 1, 2 or 3, in C or Fortran order and of either byte
/// order: bool, integers, floats, and strings of kinds U (as UTF-8) and S. Errors do not name the
/// file; they say at which byte it is wrong.
absl::StatusOr<HostValue> ParseNpy(std::string_view bytes);

}  // namespace poprt::frontend
