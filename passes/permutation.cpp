#include "passes/permutation.hpp"

#include <algorithm>
#include <numeric>

namespace poprt::passes {

Ints PermutationOf(const ir::Graph& graph, const ir::Node& transpose) {
  Ints reversed(graph.type(transpose.inputs[0]).shape.size());
  std::iota(reversed.rbegin(), reversed.rend(), std::int64_t{0});
  return transpose.attributes.get_ints("perm", reversed);
}

Ints Permuted(const Ints& of_axes, const Ints& perm) {
  Ints result;
  result.reserve(perm.size());
  for (const std::int64_t axis : perm) result.push_back(of_axes[static_cast<std::size_t>(axis)]);
  return result;
}

}  // namespace poprt::passes
