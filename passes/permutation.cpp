#include "passes/permutation.hpp"

#include <algorithm>
#include <numeric>

namespace poprt::passes {

Ints PermutationOf(const ir::Graph& graph, const ir::Node& transpose) {
  Ints reversed(graph.type(transpose.inputs[0]).shape.size());
  std::iota(reversed.rbegin(), reversed.rend(), std::int64_t{0});
  return transpose.attributes.get_ints("perm", reversed);
}

}  // namespace poprt::passes
