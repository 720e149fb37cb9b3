#pragma once

#include <optional>

#include "compiler/ipu/plan/step_builder.hpp"

namespace poprt::ipu {

/// What a normalisation does with the axes it reduces.
struct Normalization {
  std::vector<bool> axes;  ///< over which mean and variance are taken
  bool centered = true;    ///< subtracts the mean; RMSNormalization does not
  std::optional<Placed> scale = {};
  std::optional<Placed> bias = {};
};

/// popnn's layer, group and instance normalisation (section 2.8): about eight compute sets.
Placed AddNormalization(StepBuilder& steps, const Placed& x, const Normalization& normalization);

}  // namespace poprt::ipu
