#include <numeric>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/movement/strided_copy.hpp"

namespace poprt::kernels {
namespace {

Ints ReadPermutation(const Attributes& attributes, std::size_t rank) {
  Ints permutation = attributes.get_ints("perm");
  if (permutation.empty()) {
    permutation.resize(rank);
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  std::vector<bool> seen(rank);
  bool good = permutation.size() == rank;
  for (const std::int64_t axis : permutation) {
    good = good && axis >= 0 && axis < static_cast<std::int64_t>(rank) &&
           !seen[static_cast<std::size_t>(axis)];
    if (good) seen[static_cast<std::size_t>(axis)] = true;
  }
  if (!good) {
    throw KernelError("attribute 'perm' is " + ToString(permutation) +
                      ", which is not an order of the " + std::to_string(rank) +
                      " axes of the input");
  }
  return permutation;
}

}  // namespace

BoundKernel BindTranspose(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireCount(input.shape, "the input");
  const std::size_t size = RequireSameElement(input, call.outputs[0]);
  const StridedView view =
      Permute(input.shape, ReadPermutation(call.attributes, input.shape.size()));
  RequireType(call.outputs[0], {input.element, view.extents}, "output 0");
  return {.run = [copy = StridedCopy(view, size)](const KernelArguments& args) {
    copy.Run(args.inputs[0], args.outputs[0], args.pool);
  }};
}

}  // namespace poprt::kernels
