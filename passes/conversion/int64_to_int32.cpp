#include "passes/conversion/int64_to_int32.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "passes/conversion/change_element_type.hpp"

namespace poprt::passes {
namespace {

using Wide = std::numeric_limits<std::int64_t>;
using Narrow = std::numeric_limits<std::int32_t>;

bool IsSentinel(std::int64_t value) { return value == Wide::max() || value == Wide::min(); }

}  // namespace

absl::Status Int64ToInt32(ir::Graph& graph, const PassContext& context) {
  std::string first_clipped;
  int clipped = 0;
  const auto convert = [&](const std::string& name, const Tensor& constant) {
    Tensor result({ElementType::kInt32, constant.shape()});
    const std::span<std::int32_t> target = result.as_mutable<std::int32_t>();
    std::optional<std::int64_t> lost;
    std::size_t i = 0;
    for (std::int64_t value : constant.as<std::int64_t>()) {
      const auto narrow = std::clamp<std::int64_t>(value, Narrow::min(), Narrow::max());
      if (narrow != value && !IsSentinel(value)) lost = value;
      target[i++] = static_cast<std::int32_t>(narrow);
    }
    if (lost && clipped++ == 0) {
      first_clipped = "constant '" + name + "' holds " + std::to_string(*lost);
    }
    return result;
  };
  ChangeElementType(graph,
                    {.from = ElementType::kInt64,
                     .to = ElementType::kInt32,
                     .convert = convert,
                     // ONNX allows these no other indices, though our kernels would take int32.
                     .keep = {"GatherND", "ReverseSequence", "ScatterND"},
                     .keep_interface = context.in_region});
  if (clipped > 0) {
    const std::string others = clipped > 1 ? " (and " + std::to_string(clipped - 1) + " more)" : "";
    context.warn("model '" + graph.name + "': " + first_clipped + others +
                 ", clipped to the range of int32; what is computed of it differs unless int64 is "
                 "kept: --skip_passes int64_to_int32");
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
