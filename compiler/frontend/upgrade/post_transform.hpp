#pragma once

#include <string>

#include "compiler/frontend/upgrade/upgrade_steps.hpp"

namespace poprt::frontend {

/// What operators of the domain ai.onnx.ml do to their scores [rows, targets] at the end: NONE,
/// LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT. An error for other names.
absl::StatusOr<ir::ValueId> PostTransform(UpgradeSteps& steps, const std::string& name,
                                          ir::ValueId scores);

}  // namespace poprt::frontend
