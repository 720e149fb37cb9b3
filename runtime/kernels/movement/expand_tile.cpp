#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/movement/strided_copy.hpp"

namespace poprt::kernels {
namespace {

BoundKernel CopyView(const StridedView& view, std::size_t size) {
  return {.run = [copy = StridedCopy(view, size)](const KernelArguments& args) {
    copy.Run(args.inputs[0], args.outputs[0], args.pool);
  }};
}

}  // namespace

BoundKernel BindExpand(const KernelCall& call) {
  // The shape that was asked for may still be there as input 1; the output type says it all.
  RequireArity(call, 1, 2);
  const TensorType& input = call.inputs[0];
  const TensorType& output = call.outputs[0];
  const std::size_t size = RequireSameElement(input, output);
  RequireCount(input.shape, "the input");
  if (Broadcast(input.shape, output.shape) != output.shape) {
    throw KernelError("input " + ToString(input) + " does not broadcast to output " +
                      ToString(output));
  }
  if (RequireCount(output.shape, "the output") == 0) return NothingToRun();
  const Shape strides = Strides(input.shape);
  const std::size_t added = output.shape.size() - input.shape.size();
  StridedView view{output.shape, Ints(output.shape.size(), 0), 0};
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    if (input.shape[i] != 1) view.strides[added + i] = strides[i];
  }
  return CopyView(view, size);
}

BoundKernel BindTile(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  const std::size_t size = RequireSameElement(input, call.outputs[0]);
  RequireCount(input.shape, "the input");
  const Ints repeats = call.attributes.get_ints("repeats");
  if (repeats.size() != input.shape.size()) {
    throw KernelError("attribute 'repeats' has " + std::to_string(repeats.size()) +
                      " numbers, the input has rank " + std::to_string(input.shape.size()));
  }
  const Shape strides = Strides(input.shape);
  StridedView view;
  TensorType wanted{input.element, input.shape};
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(repeats[i], input.shape[i], &wanted.shape[i])) {
      throw KernelError("attribute 'repeats' holds " + std::to_string(repeats[i]) +
                        ", allowed are numbers >= 0 that keep the output's extent in int64");
    }
    view.extents.insert(view.extents.end(), {repeats[i], input.shape[i]});
    view.strides.insert(view.strides.end(), {0, strides[i]});
  }
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  return CopyView(view, size);
}

}  // namespace poprt::kernels
