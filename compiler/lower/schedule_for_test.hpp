#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/schedule.hpp"

/// Schedules made by hand.
namespace poprt::lower {

/// A float32 tensor of that shape, in the arena.
inline Buffer Activation(Shape shape) {
  return {.type = {ElementType::kFloat32, std::move(shape)}, .constant = {}, .view_of = {}};
}

inline Step Call(const std::string& kernel, std::vector<BufferId> inputs,
                 std::vector<BufferId> outputs, Attributes attributes = {}) {
  return {.name = kernel,
          .kernel = kernel,
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = std::move(attributes)};
}

/// An elementwise step that may overwrite any of its inputs.
inline Step ElementwiseCall(const std::string& kernel, std::vector<BufferId> inputs,
                            BufferId output) {
  Step step = Call(kernel, std::move(inputs), {output});
  for (std::size_t i = 0; i < step.inputs.size(); ++i) step.in_place_inputs.push_back(i);
  return step;
}

}  // namespace poprt::lower
