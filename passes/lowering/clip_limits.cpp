#include "passes/lowering/clip_limits.hpp"

#include <limits>

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"

namespace poprt::passes {

std::optional<ClipLimits> ClipLimitsOf(const ir::Graph& graph, const ir::Node& clip) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ClipLimits limits{.low = -kInfinity, .high = kInfinity};
  std::size_t input = 1;
  for (float* const bound : {&limits.low, &limits.high}) {
    if (HasInput(clip, input)) {
      const auto value = UniformValue(graph, clip.inputs[input]);
      if (!value) return std::nullopt;
      *bound = static_cast<float>(*value);
    }
    ++input;
  }
  return limits;
}

}  // namespace poprt::passes
