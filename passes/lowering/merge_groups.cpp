#include "passes/lowering/merge_groups.hpp"

#include <cstring>

#include "passes/lowering/blocked_operator.hpp"
#include "runtime/kernels/ceil_div.hpp"

namespace poprt::passes {
namespace {

/// More groups together cost more than blocks of channels gain.
constexpr std::int64_t kMostGroups = 4;

}  // namespace

std::int64_t GroupsTogether(const ir::Graph& graph, const ir::Node& conv) {
  const Shape& shape = graph.type(conv.inputs[1]).shape;
  const std::int64_t group = conv.attributes.get_int("group", 1);
  const std::int64_t inputs = shape[1];
  const std::int64_t outputs = shape[0] / group;
  const bool has_taps = shape[2] * shape[3] > 1;
  if (group == 1 || !has_taps || (inputs % kBlock == 0 && outputs % kBlock == 0)) return 1;
  for (std::int64_t together = 2; together <= kMostGroups; together *= 2) {
    const bool is_whole = inputs * together % kBlock == 0 && outputs * together % kBlock == 0;
    // The last group may end within a block, whose spare lanes are there anyway.
    const bool is_block =
        inputs * together == kBlock && outputs * together == kBlock && group > together / 2;
    if (is_block || (is_whole && group % together == 0)) return together;
  }
  return 1;
}

Tensor MergeGroups(const Tensor& weights, std::int64_t group, std::int64_t together) {
  Shape shape = weights.shape();
  const std::int64_t all = shape[0];
  const std::int64_t outputs = all / group;
  shape[0] = kernels::CeilDiv(group, together) * together * outputs;
  shape[1] *= together;
  Tensor merged({weights.element(), shape});
  const std::int64_t bytes = static_cast<std::int64_t>(weights.type().bytes()) / all;
  for (std::int64_t o = 0; o < all; ++o) {
    const std::int64_t place = o * together + o / outputs % together;
    std::memcpy(merged.mutable_data() + place * bytes, weights.data() + o * bytes,
                static_cast<std::size_t>(bytes));
  }
  return merged;
}

Tensor MergedBias(const Tensor& bias, std::int64_t channels) {
  Tensor merged({bias.element(), {channels}});
  std::memcpy(merged.mutable_data(), bias.data(), bias.bytes());
  return merged;
}

}  // namespace poprt::passes
