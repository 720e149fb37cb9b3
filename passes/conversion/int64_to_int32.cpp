#include "passes/conversion/int64_to_int32.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "passes/conversion/change_element_type.hpp"

namespace poprt::passes {
namespace {

using Wide = std::numeric_limits<std::int64_t>;
using Narrow = std::numeric_limits<std::int32_t>;

bool IsSentinel(std::int64_t value) { return value == Wide::max() || value == Wide::min(); }

}  // namespace

absl::Status Int64ToInt32(ir::Graph& graph, const PassContext& context) {
  const auto convert = [&](const std::string& name, const Tensor& constant) {
    Tensor result({ElementType::kInt32, constant.shape()});
    const std::span<std::int32_t> target = result.as_mutable<std::int32_t>();
    std::optional<std::int64_t> clipped;
    std::size_t i = 0;
    for (std::int64_t value : constant.as<std::int64_t>()) {
      const auto narrow = std::clamp<std::int64_t>(value, Narrow::min(), Narrow::max());
      if (narrow != value && !IsSentinel(value)) clipped = value;
      target[i++] = static_cast<std::int32_t>(narrow);
    }
    if (clipped) {
      context.warn("model '" + graph.name + "': constant '" + name + "' holds " +
                   std::to_string(*clipped) + ", clipped to the range of int32");
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
  return absl::OkStatus();
}

}  // namespace poprt::passes
