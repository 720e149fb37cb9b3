#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/movement/slice_range.hpp"
#include "runtime/kernels/movement/strided_copy.hpp"

namespace poprt::kernels {

BoundKernel BindSlice(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireCount(input.shape, "the input");
  const std::size_t size = RequireSameElement(input, call.outputs[0]);
  const std::vector<SliceRange> ranges = ResolveSlice(call.attributes, input.shape);
  RequireType(call.outputs[0], {input.element, SliceOutputShape(ranges)}, "output 0");
  if (ElementCount(call.outputs[0].shape) == 0) return NothingToRun();
  const Shape strides = Strides(input.shape);
  StridedView view;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    view.extents.push_back(ranges[i].count);
    // The step of a single position may be any int64.
    view.strides.push_back(ranges[i].count > 1 ? ranges[i].step * strides[i] : 0);
    view.offset += ranges[i].start * strides[i];
  }
  return {.run = [copy = StridedCopy(view, size)](const KernelArguments& args) {
    copy.Run(args.inputs[0], args.outputs[0], args.pool);
  }};
}

}  // namespace poprt::kernels
