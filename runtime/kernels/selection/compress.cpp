#include <algorithm>
#include <cstring>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/selection/selection.hpp"

namespace poprt::kernels {
namespace {

/// The data as [outer, length, inner], of whose middle axis the condition selects.
struct Compress {
  AxisSplit split = {};
  std::int64_t bound = 0;   ///< conditions that count; the output's extent
  std::size_t element = 0;  ///< bytes

  void Run(const KernelArguments& args) const {
    const Bool* condition = args.in<Bool>(1);
    const std::int64_t count = std::count_if(condition, condition + bound,
                                             [](Bool chosen) { return static_cast<bool>(chosen); });
    const std::size_t piece = static_cast<std::size_t>(split.inner) * element;
    for (std::int64_t outer = 0; outer < split.outer; ++outer) {
      const std::byte* from =
          args.inputs[0] + static_cast<std::size_t>(outer * split.length) * piece;
      std::byte* to = args.outputs[0] + static_cast<std::size_t>(outer * bound) * piece;
      std::byte* const end = to + static_cast<std::size_t>(bound) * piece;
      for (std::int64_t i = 0; piece > 0 && i < bound;) {
        if (!static_cast<bool>(condition[i])) {
          ++i;
          continue;
        }
        const std::int64_t first = i;
        while (i < bound && static_cast<bool>(condition[i])) ++i;
        const std::size_t bytes = static_cast<std::size_t>(i - first) * piece;
        std::memcpy(to, from + static_cast<std::size_t>(first) * piece, bytes);
        to += bytes;
      }
      std::fill(to, end, std::byte{0});
    }
    *args.out<std::int64_t>(1) = count;
  }
};

}  // namespace

BoundKernel BindCompress(const KernelCall& call) {
  RequireArity(call, 2, 2, 2, 2);
  const TensorType& data = call.inputs[0];
  const TensorType& condition = call.inputs[1];
  RequireElement(data, kStoredTypes, "input 0");
  Require(condition.element == ElementType::kBool && condition.shape.size() == 1,
          "input 1 is " + ToString(condition) + ", expected bools of rank 1");
  Compress compress{.element = ElementSize(data.element)};
  Shape shape;
  if (call.attributes.has("axis")) {
    const std::size_t axis = AxisAttribute(call, "axis", 0, data.shape.size());
    shape = data.shape;
    shape[axis] = std::min(shape[axis], condition.shape[0]);
    compress.bound = shape[axis];
    if (ElementCount(data.shape) > 0) compress.split = SplitAt(data.shape, axis);
  } else {
    compress.split.length = ElementCount(data.shape);
    compress.bound = std::min(compress.split.length, condition.shape[0]);
    shape = {compress.bound};
  }
  // What has no elements still has a count.
  if (ElementCount(data.shape) == 0) compress.split = {.outer = 0, .length = 0, .inner = 0};
  RequireType(call.outputs[0], {data.element, shape}, "output 0");
  RequireType(call.outputs[1], {ElementType::kInt64, {}}, "output 1");
  return {.run = [compress](const KernelArguments& args) { compress.Run(args); }};
}

}  // namespace poprt::kernels
