#pragma once

#include <vector>

#include "compiler/lower/schedule.hpp"

namespace poprt::lower {

/// Calls `use` with every operand of steps that have bodies and of the bodies themselves. Their
/// memory is written more than once, by steps and by the device.
template <typename Use>
void ForControlBuffers(const std::vector<Step>& steps, const Use& use) {
  const auto use_all = [&](const std::vector<BufferId>& ids) {
    for (const BufferId id : ids) {
      if (id != kNoBuffer) use(id);
    }
  };
  for (const Step& step : steps) {
    if (step.bodies.empty()) continue;
    use_all(step.inputs);
    use_all(step.outputs);
    for (const Body& body : step.bodies) {
      use_all(body.inputs);
      use_all(body.outputs);
      ForControlBuffers(body.steps, use);
    }
  }
}

}  // namespace poprt::lower
