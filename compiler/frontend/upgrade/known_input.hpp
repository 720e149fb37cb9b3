#pragma once

#include "absl/status/statusor.h"
#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "runtime/tensor/attributes.hpp"

namespace poprt::frontend {

/// The numbers of input `i`, which ONNX calls `name` and which must be there and known when
/// compiling. InvalidArgument says what to do otherwise.
absl::StatusOr<Ints> KnownInts(const UpgradeCall& call, std::size_t i, std::string_view name);
absl::StatusOr<Floats> KnownFloats(const UpgradeCall& call, std::size_t i, std::string_view name);

}  // namespace poprt::frontend
