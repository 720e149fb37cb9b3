#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/driver/convert.hpp"
#include "compiler/ipu/plan/plan.hpp"
#include "poprt/compiler/compiler_options.hpp"

namespace poprt::driver {

/// Whether the options name a target, or a file that describes one, and a platform of it:
/// InvalidArgument or NotFound. What PlanForIpu finds too, but only when models are converted.
absl::Status CheckTarget(const compiler::CompilerOptions& options);

/// What the converted graphs do on the IPU, priced. Chooses the I/O tiles when the options say so.
/// InvalidArgument for options that no target allows, ResourceExhausted for a program that does
/// not fit the tiles unless `allowOutOfMemory` is set. Warns of what the user will regret.
absl::StatusOr<ipu::Plan> PlanForIpu(const Converted& converted,
                                     const compiler::CompilerOptions& options, const Log& warn);

}  // namespace poprt::driver
